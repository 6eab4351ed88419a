// The ladder of `verbs show` in a browser: the packets, one by one, by the keyboard.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../setup/src/paths.mjs';
import { Browser, findBrowser } from '../src/browser.mjs';

const program = findBrowser();
const title = program === undefined ? 'the ladder (skipped: there is no chromium)' : 'the ladder';

const PACKETS = 60;

/** A pcap file of SENDs, a millisecond after each other. */
function capture(): Buffer {
  const words = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [i, value] of values.entries()) bytes.writeUInt32LE(value, 4 * i);
    return bytes;
  };
  const head = '4500002c00000000401100007f0000017f000002c00012b7001800000400ffff0000001180';
  const packets = Array.from({ length: PACKETS }, (_, i) => {
    const packet = Buffer.from(`${head}${(i + 1).toString(16).padStart(6, '0')}00000000`, 'hex');
    return [words(1, i * 1000, packet.length, packet.length), packet];
  });
  return Buffer.concat([words(0xa1b2c3d4, 2 | (4 << 16), 0, 0, 65535, 101), ...packets.flat()]);
}

describe.skipIf(program === undefined)(title, { timeout: 60_000 }, () => {
  let folder = '';
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'verbs-ladder-'));
    const [file, page] = [join(folder, 'run.pcap'), join(folder, 'run.html')];
    writeFileSync(file, capture());
    const verbs = join(root, 'packages/cli/bin/verbs.mjs');
    const { status, stderr } = spawnSync(process.execPath, [verbs, 'show', file, '-o', page], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    browser = new Browser(program ?? '');
    await browser.open();
    await browser.view(1280, 600, 'light');
    await browser.go(pathToFileURL(page).href);
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const press = async (key: string, code: number) => {
    const event = { key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: code };
    const text = key === ' ' ? { text: ' ' } : {};
    await browser.call('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...text });
    await browser.call('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    // What scrolled is drawn anew.
    const expression = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
    await browser.call('Runtime.evaluate', { expression, awaitPromise: true });
  };
  /** The label of the packet that has the focus, and the place of the ladder. */
  const focused = () => browser.evaluate('document.activeElement.getAttribute("aria-label")');
  const top = () => browser.evaluate('document.querySelector(".stage").scrollTop');

  it('goes from packet to packet by the tab key, beyond what the window shows', async () => {
    await browser.evaluate('document.querySelector(".packet").focus()');
    for (let i = 1; i < PACKETS; i += 1) await press('Tab', 9);
    expect(await focused()).toBe(`RC SEND Only  0x${PACKETS.toString(16)}`);
    expect(await top()).toBeGreaterThan(600);
  });

  it('chooses a packet by the space bar, which does not scroll, and stays there', async () => {
    await browser.evaluate('document.querySelector(".stage").scrollTop = 0');
    await press('Escape', 27);
    await browser.evaluate('document.querySelector(".packet").focus()');
    await press(' ', 32);
    expect([await top(), await focused()]).toEqual([0, 'RC SEND Only  0x1']);
    expect(await browser.evaluate('document.querySelector(".packet.chosen").ariaLabel')).toBe('RC SEND Only  0x1');
  });
});
