import { spawn } from 'node:child_process';

/** Opens a page in the browser of a desktop. Without a desktop, or for a program that reads the output, nothing happens. */
export function openPage(path: string): void {
  const { DISPLAY: x, WAYLAND_DISPLAY: wayland } = process.env;
  if (!process.stdout.isTTY || (!x && !wayland)) return;
  const browser = spawn('xdg-open', [path], { stdio: 'ignore', detached: true });
  // A desktop without xdg-open: the path has been printed.
  browser.once('error', () => undefined);
  browser.unref();
}
