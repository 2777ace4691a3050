import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Configuration } from './configuration.ts';
import { type Ran, runProgram } from './tools.ts';

/** What a search came to. */
export type Seen =
  | { readonly kind: 'holds'; readonly states: number }
  | {
      readonly kind: 'breaks';
      readonly promised: string;
      readonly states: number;
      readonly story: readonly string[];
    }
  | { readonly kind: 'failed'; readonly why: string };

const model = fileURLToPath(new URL('../../docs/model/once.pml', import.meta.url));

/** Spin makes the search from the model, gcc compiles it, and it runs: until a promise breaks, or through every state. */
export async function search(configuration: Configuration): Promise<Seen> {
  const directory = await mkdtemp(join(tmpdir(), 'lambda-once-model-'));
  try {
    return await searchIn(directory, configuration);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function searchIn(directory: string, { macros, expected }: Configuration): Promise<Seen> {
  const defines = macros.map((macro) => `-D${macro}`);
  const generated = await runProgram('spin', [...defines, '-a', model], { directory, seconds: 20 });
  if (generated.ended !== 'well') return failed('spin', generated);

  const compiled = await runProgram('gcc', compilation(expected.kind), { directory, seconds: 60 });
  if (compiled.ended !== 'well') return failed('gcc', compiled);

  const searched = await runProgram('./pan', ['-E', `-m${deepest}`], { directory, seconds: 90 });
  const states = Number(/(\d+) states, stored/.exec(searched.output)?.[1] ?? Number.NaN);
  const promised = /assertion violated (\w+)/.exec(searched.output)?.[1];
  if (promised !== undefined) {
    const replay = [...defines, '-t', '-k', 'once.pml.trail', model];
    const replayed = await runProgram('spin', replay, { directory, seconds: 20 });
    const story = storyOf(replayed.output);
    return story.length > 0 ? { kind: 'breaks', promised, states, story } : failed('spin -t', replayed);
  }
  const wasComplete =
    searched.ended === 'well' &&
    /errors: 0$/m.test(searched.output) &&
    !/not completed|too small|out of memory|memory limit/i.test(searched.output);
  return wasComplete && states > 0 ? { kind: 'holds', states } : failed('the search', searched);
}

/** Twenty times deeper than any search goes. */
const deepest = 20_000;

/**
 * A search through every state pays for optimisation, one that soon finds what it looks for does not. That one goes breadth
 * first, so that its counterexample is the shortest.
 */
function compilation(kind: 'holds' | 'breaks'): readonly string[] {
  const search = kind === 'holds' ? ['-O1'] : ['-O0', '-DBFS'];
  return [...search, '-w', '-DSAFETY', '-DNOFAIR', '-DMEMLIM=2000', '-o', 'pan', 'pan.c'];
}

function failed(program: string, { output, ended }: Ran): Seen {
  const why = ended === 'too late' ? 'took too long' : 'did not get through';
  return { kind: 'failed', why: `${program} ${why}: ${output.trim().slice(-600)}` };
}

/** What the steps of a counterexample print, its ticks numbered. */
function storyOf(output: string): readonly string[] {
  const lines = output.split('\n').map((line) => line.trim());
  const end = lines.findIndex((line) => line.startsWith('spin:'));
  let ticks = 0;
  return lines.slice(0, end === -1 ? undefined : end).map((line) => {
    if (line !== 'tick') return `  ${line}`;
    ticks += 1;
    return `tick ${ticks}`;
  });
}
