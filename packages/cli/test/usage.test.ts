import { describe, expect, it } from 'vitest';
import { verbs } from './verbs.js';

const COMMANDS = [
  'devices',
  'devinfo',
  'gids',
  'doctor',
  'run',
  'capture',
  'show',
  'top',
  'stat',
  'ping',
  'perf',
  'comm',
  'encap',
  'reformat',
  'completion',
  'man',
];

describe('the command line', () => {
  it.each(COMMANDS)('%s --help shows an example and leaves with 0', async (command) => {
    const { status, stdout } = await verbs([command, '--help']);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`Examples?:\n  verbs ${command}`));
  });

  it.each([...COMMANDS, 'comm serve', 'comm connect', ''])(
    '%s --help fits into 80 columns of a pipe',
    async (command) => {
      const { stdout } = await verbs([...command.split(' ').filter(Boolean), '--help']);
      const long = stdout.split('\n').filter((line) => line.length > 80);
      // The examples' commands stay whole, for the shell.
      expect(long.filter((line) => !/^ {2}(\S+ \| )?verbs /.test(line))).toEqual([]);
      expect(long.every((line) => line.length <= 100)).toBe(true);
    },
  );

  it('tells its version', async () => {
    const { status, stdout } = await verbs(['--version']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it.each([
    [[], 'Usage: verbs'],
    [['nonsense'], "unknown command 'nonsense'"],
    [['devices', '--nonsense'], "unknown option '--nonsense'"],
    [['top', '-i', 'x'], 'seconds from 0'],
    [['top', '-n', '0'], 'a whole number from 1'],
    [['show'], "missing required argument 'capture'"],
    [['show', '-q', 'x', 'file'], 'a queue pair number'],
    [['show', '-p', '1', '--json', 'file'], "cannot be used with option '--json'"],
    [['why', '--faults', 'drop=0.1', '4711'], '--device and --faults are for a program'],
    [['why', '4711', '--json'], 'options come before it, as in "verbs why --json 4711"'],
    [['run', '--capture', '', '--', 'true'], '--capture <file>: the value is empty'],
    [['run'], "missing required argument 'program'"],
    [['capture', '--', 'true'], "required option '-o, --output <file>' not specified"],
    [['devinfo', '-i', '0'], 'ports count from 1'],
    [['encap', 'nonsense'], 'Allowed choices are show, demo'],
    [['encap', 'demo', '-t', 'ipip'], 'Allowed choices are vxlan, gre'],
    [['stat', '-p', 'me'], 'a whole number from 1'],
    [['ping', '-c', '0'], 'a whole number from 1'],
    [['ping', '-S', 'x'], 'a whole number from 0'],
    [['ping', '-i', '-1'], 'seconds from 0'],
    [['ping', '-t', '0'], 'seconds from 0.001'],
    [['ping', '-p', '0'], '--port 0 is for the server'],
    [['ping', '-s', '-c', '5', '--read'], '--count, --read: only for the client'],
    [['ping', '-s', '10.1.2.3'], '--bind 10.1.2.3'],
    [['perf', 'lat', 'send', ''], 'address: the value is empty'],
    [['man', '-o', 'folder', 'run'], '--output writes all pages'],
    [['perf'], "missing required argument 'kind'"],
    [['perf', 'speed', 'send'], 'Allowed choices are lat, bw'],
    [['perf', 'lat', 'recv'], 'Allowed choices are send, write, read, atomic'],
    [['perf', 'lat', 'read', '127.0.0.1', '-c', 'UD'], 'UD has no read: it carries send'],
    [['perf', 'lat', 'atomic', '127.0.0.1', '-s', '16'], 'an atomic operation is about 8 bytes'],
    [['perf', 'bw', 'send', '127.0.0.1', '-c', 'UD', '-s', '65536'], 'the MTU'],
    [['perf', 'bw', 'send', '127.0.0.1', '-b'], '--bidirectional is for bw write, read and atomic'],
    [['perf', 'lat', 'write', '127.0.0.1', '-b'], '--bidirectional is for bw write, read and atomic'],
    [['perf', 'bw', 'send', '-n', '0'], 'a whole number from 1'],
    [['completion', 'csh'], 'Allowed choices are bash, zsh, fish'],
    [['comm'], 'Usage: verbs comm'],
    [['comm', 'serve'], "missing required argument 'name'"],
    [['comm', 'connect', 'x', '--wait', '-1'], 'seconds from 0'],
    [['run', '--device', '', '--', 'true'], 'a device begins with its name'],
    [['run', '--faults', 'drop', '--', 'true'], 'KEY=VALUE'],
    [['run', '--faults', 'drop=0.1;evil', '--', 'true'], 'KEY=VALUE'],
  ])('%j is a usage error', async (args, message) => {
    const { status, stdout, stderr } = await verbs(args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
    expect(stdout).toBe('');
  });
});
