import { styleText } from 'node:util';
import type { Shown } from './scene.ts';

const heads = ['', 'scene', 'sent', 'effects', 'answers'] as const;

/** The story as a table. */
export function printTable(scenes: readonly Shown[]): void {
  const rows = scenes.map((shown) => [
    shown.faults.length === 0 ? 'ok' : 'NO',
    shown.title,
    String(shown.sent),
    String(shown.effects),
    [...shown.answers].map(([answer, count]) => (count === 1 ? answer : `${answer} ×${count}`)).join(', '),
  ]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 2 || column === 3 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ');
  console.log(`\n  ${styleText('bold', line(heads))}`);
  console.log(`  ${widths.map((width) => '─'.repeat(width)).join('  ')}`);
  for (const row of rows) {
    console.log(`  ${styleText(row[0] === 'ok' ? 'green' : 'red', row[0] ?? '')}${line(row).slice(2)}`);
  }
  for (const { title, faults } of scenes) {
    for (const fault of faults) console.log(styleText('red', `\n  ${title}: ${fault}`));
  }
}
