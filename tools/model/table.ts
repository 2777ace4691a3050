import { styleText } from 'node:util';
import type { Configuration, Expected } from './configuration.ts';
import type { Seen } from './search.ts';

/** One configuration, searched. */
export interface Row {
  readonly configuration: Configuration;
  readonly seen: Seen;
  readonly seconds: number;
}

/** Whether the search saw what was expected: for a break, that very promise. */
export function isAsExpected({ configuration: { expected }, seen }: Row): boolean {
  switch (expected.kind) {
    case 'holds':
      return seen.kind === 'holds' && seen.states >= expected.atLeastStates;
    case 'breaks':
      return seen.kind === 'breaks' && seen.promised === expected.promised;
    default:
      return expected satisfies never;
  }
}

const heads = ['', 'configuration', 'rule', 'expected', 'seen', 'states', 'seconds'] as const;
const toTheRight: readonly number[] = [2, 5, 6];

/** What was expected and what was seen, a line each; below it, why a search failed. */
export function printTable(rows: readonly Row[]): void {
  const cells = rows.map((row) => [
    isAsExpected(row) ? 'ok' : 'NO',
    row.configuration.name,
    String(row.configuration.rule ?? ''),
    inWords(row.configuration.expected),
    inWords(row.seen),
    row.seen.kind === 'failed' ? '' : row.seen.states.toLocaleString('en'),
    row.seconds.toFixed(1),
  ]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        toTheRight.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ');
  console.log(`\n  ${styleText('bold', line(heads))}`);
  console.log(`  ${widths.map((width) => '─'.repeat(width)).join('  ')}`);
  for (const row of cells) {
    console.log(`  ${styleText(row[0] === 'ok' ? 'green' : 'red', row[0] ?? '')}${line(row).slice(2)}`);
  }
  for (const { configuration, seen } of rows) {
    if (seen.kind === 'failed') console.log(styleText('red', `\n  ${configuration.name}: ${seen.why}`));
  }
}

function inWords(what: Expected | Seen): string {
  switch (what.kind) {
    case 'holds':
      return 'holds';
    case 'breaks':
      return `breaks ${what.promised}`;
    case 'failed':
      return 'failed';
    default:
      return what satisfies never;
  }
}
