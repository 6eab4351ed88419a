import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelOf, withSubcommands } from '../src/manual/command-model.js';
import { installHint } from '../src/commands/vendor.js';
import { createProgram } from '../src/program.js';
import { programFolder, type Shell, Terminal } from './shell.js';
import { verbs } from './verbs.js';

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const COMMANDS = createProgram().commands.map((command) => command.name());

let folder = '';
let work = '';
let env: NodeJS.ProcessEnv = {};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-completion-'));
  work = join(folder, 'work');
  mkdirSync(join(work, 'sub folder'), { recursive: true });
  writeFileSync(join(work, 'a capture.pcapng'), '');
  writeFileSync(join(work, 'other.txt'), '');
  const bin = programFolder(folder);
  env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: folder, TERM: 'dumb', LC_ALL: 'C.UTF-8' };
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, status } = await verbs(['completion', shell]);
    expect(status).toBe(0);
    writeFileSync(join(folder, shell), stdout);
  }
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

// The words of each line, whose last one is completed, and what that becomes.
const LINES: [line: string, last: string[]][] = [
  ['verbs per', ['perf']],
  ['verbs perf l', ['lat']],
  ['verbs perf lat r', ['read']],
  ['verbs perf bw send --conn', ['--connection']],
  ['verbs perf bw send -c R', ['RC']],
  ['verbs comm s', ['serve']],
  ['verbs comm serve --api comch --ech', ['--echo']],
  ['verbs comm connect --wait 1 --jso', ['--json']],
  ['verbs top -i 2 --js', ['--json']],
  ['verbs encap d', ['demo']],
  ['verbs completion f', ['fish']],
  ['verbs man reform', ['reformat']],
  ['verbs help reform', ['reformat']],
  ['verbs show a', ['a capture.pcapng']],
  ['verbs run --capture oth', ['other.txt']],
  ['verbs devinfo -d soft', ['soft0']],
  ['verbs run -- ibv_devin', ['ibv_devinfo']],
  ['verbs run --device soft0 -- cat oth', ['other.txt']],
];

describe.each<[string, Shell, string[]]>([
  ['bash', { command: 'bash --norc --noprofile -i', setup: 'source ../bash', keys: '\x1b*' }, []],
  [
    'bash with the package bash-completion',
    {
      command: 'bash --norc --noprofile -i',
      setup: 'source /usr/share/bash-completion/bash_completion; source ../bash',
      keys: '\x1b*',
    },
    ['/usr/share/bash-completion/bash_completion'],
  ],
  [
    'zsh',
    { command: 'zsh -f -i', setup: 'bindkey -e; autoload -U compinit; compinit -u -D; source ../zsh', keys: '\t' },
    [],
  ],
])('%s', (name, shell, files) => {
  const [program = ''] = shell.command.split(' ');
  const missing = has(program) ? files.find((file) => !existing(file)) : program;
  const what = missing === undefined ? 'completes %s' : `completes %s (skipped: there is no ${missing})`;

  let terminal: Terminal | undefined;
  const completed = async (line: string) => {
    if (terminal === undefined) {
      terminal = new Terminal(shell, env, work);
      await terminal.setup();
    }
    return await terminal.complete(line);
  };
  afterAll(async () => {
    await terminal?.[Symbol.asyncDispose]();
  });

  it.skipIf(missing !== undefined).each(LINES)(what, async (line, last) => {
    expect(await completed(line)).toEqual([...line.split(' ').slice(0, -1), ...last]);
  });

  // By a key that inserts all of them, which zsh has not: it shows a list.
  if (name === 'zsh') return;
  it.skipIf(missing !== undefined)('offers all of several', async () => {
    expect(await completed('verbs ')).toEqual(['verbs', ...[...COMMANDS, 'help'].sort()]);
    expect(await completed('verbs c')).toEqual(['verbs', 'capture', 'comm', 'completion']);
    expect(await completed('verbs perf bw ')).toEqual('verbs perf bw atomic read send write'.split(' '));
    expect(await completed('verbs comm serve -o ')).toEqual('verbs comm serve -o'.split(' ').concat('sub folder'));
  });
});

describe('fish', () => {
  const fish = has('fish');
  const title = fish ? 'completes %s' : 'completes %s (skipped: there is no fish)';
  const candidates = (line: string) => {
    const script = `source ../fish; complete -C ${JSON.stringify(line)}`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { cwd: work, env, encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((row) => row.split('\t', 1)[0]);
  };

  it.skipIf(!fish).each(LINES)(title, (line, last) => {
    expect(candidates(line)).toEqual(expect.arrayContaining(last) as string[]);
  });

  it.skipIf(!fish)('offers nothing else', () => {
    expect(candidates('verbs c')).toEqual(['capture', 'comm', 'completion']);
    expect(candidates('verbs perf bw ').sort()).toEqual(['atomic', 'read', 'send', 'write']);
    expect(candidates('verbs ').sort()).toEqual([...COMMANDS, 'help'].sort());
  });
});

describe('the scripts', () => {
  it.each(['bash', 'zsh', 'fish'])('of %s knows every command and every option', (shell) => {
    const script = readFileSync(join(folder, shell), 'utf8');
    for (const { path, options } of withSubcommands(modelOf(createProgram()))) {
      expect(script).toMatch(new RegExp(`['"]${path}['"]`));
      for (const option of options.flatMap(({ names }) => names)) {
        const written = shell === 'fish' ? option.replace(/^--/, '-l ').replace(/^-(?=[^l-])/, '-s ') : option;
        expect(script).toContain(written);
      }
    }
  });
});

describe('verbs man', () => {
  let pages: string;
  beforeAll(async () => {
    pages = join(folder, 'pages');
    const { status } = await verbs(['man', '-o', pages]);
    expect(status).toBe(0);
  });

  it('writes a page for each command', () => {
    const names = readdirSync(pages).sort();
    const paths = withSubcommands(modelOf(createProgram())).filter(({ name }) => name !== 'help');
    expect(names).toEqual(paths.map(({ path }) => `${path.replaceAll(' ', '-')}.1`).sort());
    // npm links what package.json lists.
    const own = fileURLToPath(new URL('../package.json', import.meta.url));
    const { man } = JSON.parse(readFileSync(own, 'utf8')) as { man: string[] };
    expect(man).toEqual(names.map((name) => `man/${name}`));
    for (const name of names) expect(readFileSync(join(pages, name), 'utf8')).toMatch(/^\.TH VERBS/);
  });

  const formats = 'writes pages that groff formats without a warning';
  it.skipIf(!has('groff'))(has('groff') ? formats : `${formats} (skipped: there is no groff)`, () => {
    for (const name of readdirSync(pages)) {
      const options = ['-man', '-ww', '-z', '-Kutf8', '-rLL=80n'];
      const run = spawnSync('groff', [...options, join(pages, name)], { encoding: 'utf8' });
      expect({ name, stderr: run.stderr, status: run.status }).toEqual({ name, stderr: '', status: 0 });
    }
  });

  it('prints the page of a command with its options and examples', async () => {
    const { stdout, status } = await verbs(['man', 'comm', 'serve']);
    expect(status).toBe(0);
    expect(stdout).toContain('.TH VERBS-COMM-SERVE 1');
    expect(stdout).toContain('\\fB\\-o, \\-\\-output <directory>\\fR');
    expect(stdout).toContain('verbs comm serve log\n');
    // Also what they are if they are left out.
    const perf = readFileSync(join(pages, 'verbs-perf.1'), 'utf8');
    expect(perf).toContain('the transport (RC, UC, UD; default: RC)\n');
    expect(perf).toContain('bw: messages in flight (default: 128)\n');
    expect(readFileSync(join(pages, 'verbs-ping.1'), 'utf8')).toContain('where the server is (default: 127.0.0.1)\n');
  });

  it('refuses an unknown command, and names those that there are', async () => {
    const { stderr, status } = await verbs(['man', 'comm', 'nothing']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/no command "verbs comm nothing"[\s\S]*comm serve, comm connect/);
  });
});

describe('the advice for a package that is missing', () => {
  it('is that of the way in which the command is installed', () => {
    const project = join(folder, 'project');
    const inside = 'node_modules/@verbs/cli/dist/main.js';
    mkdirSync(project);
    expect(installHint('@verbs/hbl', join(project, inside))).toBe('npm install -g @verbs/hbl, beside @verbs/cli');
    writeFileSync(join(project, 'package.json'), '{}');
    expect(installHint('@verbs/hbl', join(project, inside))).toBe(`npm install @verbs/hbl, in ${project}`);
    expect(installHint('@verbs/hbl', `/home/me/.npm/_npx/0123abcd/${inside}`)).toBe(
      'npx -p @verbs/cli -p @verbs/hbl verbs …',
    );
    expect(installHint('@verbs/hbl', '/src/verbs/packages/cli/dist/main.js')).toBe('in a checkout: npm run setup');
  });
});

function existing(file: string): boolean {
  return spawnSync('test', ['-e', file]).status === 0;
}
