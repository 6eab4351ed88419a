/** The style of the page: colours by role and mark, for light and dark. */
export const STYLE = `
:root {
  --back: #ffffff; --panel: #f5f6f8; --line: #d5d9e0; --text: #1c2330; --soft: #5c6675;
  --send: #1f5fbf; --write: #0a7a6c; --read: #6a3fb5; --atomic: #5e6b00; --other: #4a5568; --ack: #7a8494;
  --bad: #c81e2c; --again: #b45f06; --nak: #b5127f; --focus: #1f5fbf22;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171c; --panel: #1d2229; --line: #3a424e; --text: #e6e9ee; --soft: #9aa5b4;
    --send: #7fb2ff; --write: #4fd1bd; --read: #bb9bff; --atomic: #c3d94e; --other: #b4bdca; --ack: #8a95a5;
    --bad: #ff6b6b; --again: #ffb454; --nak: #ff7ac6; --focus: #7fb2ff2a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; background: var(--back); color: var(--text); font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; }
header { padding: 16px 20px 8px; }
h1 { font-size: 20px; margin: 0; overflow-wrap: anywhere; }
header p { margin: 2px 0 0; color: var(--soft); }
.bar { padding: 4px 20px 10px; display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; }
.bar label { display: inline-flex; gap: 6px; align-items: center; }
input[type=search] { font: inherit; padding: 4px 8px; width: 14em; max-width: 100%; color: inherit;
  background: var(--panel); border: 1px solid var(--line); border-radius: 4px; }
button { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 4px;
  padding: 3px 10px; cursor: pointer; }
.pairs { flex: none; margin: 0 20px 10px; padding: 0; list-style: none; max-height: 168px; overflow: auto;
  border: 1px solid var(--line); border-radius: 6px; }
.pairs li + li { border-top: 1px solid var(--line); }
.pairs label { display: flex; flex-wrap: wrap; gap: 2px 10px; padding: 5px 10px; cursor: pointer; align-items: baseline; }
.pairs label:hover { background: var(--panel); }
.pairs .counts { color: var(--soft); }
.pairs .states { margin: 0; padding: 0 10px 5px 36px; display: flex; flex-wrap: wrap; gap: 0 24px; color: var(--soft);
  font-size: 12px; }
.pairs .states b { color: var(--text, inherit); } .pairs .states .ERR { color: var(--nak); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; color: var(--soft); font-size: 12px; }
.legend span::before { content: ""; display: inline-block; width: 18px; height: 0; margin-right: 5px; vertical-align: middle;
  border-top: 2px solid currentColor; }
.legend .dashed::before { border-top-style: dashed; }
.body { flex: 1 1 0; min-height: 0; display: flex; border-top: 1px solid var(--line); }
.stage { flex: 1 1 0; min-width: 0; overflow: auto; }
.canvas { position: relative; }
.canvas svg { position: absolute; left: 0; display: block; }
aside { flex: 0 0 400px; overflow: auto; padding: 12px 16px;
  border-left: 1px solid var(--line); background: var(--panel); }
aside h2 { font-size: 15px; margin: 0 0 4px; }
aside h3 { font-size: 13px; margin: 12px 0 2px; border-bottom: 1px solid var(--line); }
aside p { margin: 2px 0; color: var(--soft); }
aside dl { display: grid; grid-template-columns: minmax(6em, auto) 1fr; gap: 0 10px; margin: 0; font-size: 12px; }
aside dt { color: var(--soft); }
aside dd { margin: 0; overflow-wrap: anywhere; }
aside dd small { color: var(--soft); }
aside .close { float: right; display: none; }
svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: currentColor; }
svg .axis { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
svg .rail { stroke: var(--line); stroke-width: 2; }
svg .pause { stroke: var(--line); stroke-dasharray: 2 4; }
svg .packet { cursor: pointer; outline: none; }
svg .packet line { stroke: currentColor; stroke-width: 1.6; }
svg .packet path { fill: currentColor; stroke: none; }
svg .label { pointer-events: none; paint-order: stroke; stroke: var(--back); stroke-width: 4px; stroke-linejoin: round; }
svg .packet .zone { stroke: transparent; stroke-width: 18px; }
svg .packet:hover .zone, svg .packet:focus .zone, svg .packet.chosen .zone { stroke: var(--focus); }
svg .packet.marked line { stroke-width: 2.4; }
svg .packet.folded line { stroke-width: 5; opacity: 0.75; } svg .packet.folded .zone { stroke-width: 18px; opacity: 1; }
svg .packet.gone line { stroke-dasharray: 5 4; }
.heads { position: sticky; top: 0; z-index: 1; background: var(--back); border-bottom: 1px solid var(--line); }
.heads svg text { font-size: 12px; }
.heads svg .who { font-weight: 600; }
.send { color: var(--send); } .write { color: var(--write); } .read, .response { color: var(--read); }
.atomic { color: var(--atomic); } .other, .notification { color: var(--other); } .acknowledgement { color: var(--ack); }
.retransmission, .repeated { color: var(--again); } .nak, .rnr { color: var(--nak); }
.lost, .missing, .damaged { color: var(--bad); }
.none { padding: 40px 20px; color: var(--soft); }
@media (max-width: 900px) {
  header { padding: 12px 12px 6px; } .bar { padding: 4px 12px 8px; } .pairs { margin: 0 12px 8px; max-height: 148px; }
  .legend { display: none; }
  aside { position: fixed; left: 0; right: 0; bottom: 0; top: auto; max-height: 45vh; border-left: 0; z-index: 2;
    border-top: 2px solid var(--line); box-shadow: 0 -4px 16px #0004; }
  aside:not(.open) { display: none; }
  aside .close { display: block; }
}
@media print { aside, .bar { display: none; } }
`;
