// `npm run lint rooms`: draws which room imports which in build/rooms.md, and fails on a cycle of imports, on an import
// against the order in a package's rooms.json or of the shelves (packages, examples, tools, trials), and on a folder with
// too many files.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageDirectories, root } from '../setup/src/paths.mjs';
import { mustFind } from '../setup/src/problem.mjs';
import { runProgram } from '../setup/src/program.mjs';
import { checkRooms } from './src/rooms/check.mjs';
import { climbs } from './src/rooms/shelves.mjs';

function checkAll() {
  let failures = 0;
  let total = 0;
  const page = ['# Imports between rooms'];
  const folders = packageDirectories();
  for (const finding of climbs(root, folders)) {
    console.error(finding);
    ++failures;
  }
  for (const folder of folders) {
    const { findings, diagrams, files } = checkRooms(folder);
    const name = relative(root, folder);
    if (existsSync(join(folder, 'rooms.json'))) mustFind(files, `files of ${name}`);
    for (const finding of findings) console.error(`${name}: ${finding}`);
    for (const { root: room, text } of diagrams) page.push(`## ${name}/${room}`, `\`\`\`mermaid\n${text}\n\`\`\``);
    failures += findings.length;
    total += files;
  }
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(join(root, 'build/rooms.md'), `${page.join('\n\n')}\n`);
  console.log(`rooms: ${total} files, ${failures} errors; the drawing is build/rooms.md`);
  return failures === 0 ? 0 : 1;
}

await runProgram('rooms', checkAll);
