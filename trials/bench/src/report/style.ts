/** The style sheet of the report: right in light and dark, and on narrow screens. */
export const STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1a1c20; --faint: #5c6470; --rule: #d8dce2; --bar: #4a7ab5;
  --good: #1a7f37; --bad: #b42318; --light: 38%; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171b; --ink: #e6e8ec; --faint: #9aa3b0; --rule: #333841;
  --bar: #6f9fd8; --good: #4ac26b; --bad: #ff8a80; --light: 66%; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.8rem 0 .4rem; }
p, .note { color: var(--faint); } .note { font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 11rem; }
td.skipped { text-align: left; white-space: normal; color: var(--faint); }
.bar { display: block; height: .35rem; background: var(--bar); border-radius: 2px; min-width: 1px; }
.reached { color: var(--good); } .missed { color: var(--bad); }
svg { display: block; width: 100%; height: auto; }
.grid { stroke: var(--rule); fill: none; } .tick, .axis { fill: var(--faint); font: 12px system-ui, sans-serif; }
.line path { stroke: hsl(var(--hue) 65% var(--light)); fill: none; stroke-width: 2; }
.line circle { fill: hsl(var(--hue) 65% var(--light)); }
.legend { list-style: none; padding: 0; margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-size: .85rem; }
.legend li { display: flex; align-items: center; gap: .4rem; } .key { width: 28px; flex: none; }
`;
