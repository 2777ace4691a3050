import type { IncomingMessage } from 'node:http';
import { type Course, courseOf, follow, smooth } from './faults.ts';
import type { Applied, Ledger } from './ledger.ts';
import { BadRequest, readAwaited, readKey, readOrder, readReference } from './requests.ts';

/** What goes out. */
export interface Answer {
  readonly status: number;
  readonly body: object;
}

/** What the routes of one provider share. */
export interface Office {
  readonly ledger: Ledger;
  /** What the next requests suffer that bring no fault of their own. */
  readonly courses: Readonly<Record<'charge' | 'find', Course[]>>;
  readonly stopped: AbortSignal;
}

/** Answers a request; `undefined` when the connection is to break instead. Rejects when stopped during a delay. */
export async function answerTo(request: IncomingMessage, office: Office): Promise<Answer | undefined> {
  const [path, query] = (request.url ?? '').split('?', 2);
  const called = `${request.method} ${path}`;
  try {
    if (called === 'POST /charges') return await charge(request, office);
    if (called === 'GET /charges') return await find(request, new URLSearchParams(query), office);
    if (called === 'GET /ledger') return await openBooks(new URLSearchParams(query), office);
    return { status: 404, body: { error: 'no such route' } };
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return { status: error.status, body: { error: error.message, field: error.field } };
  }
}

async function charge(request: IncomingMessage, office: Office): Promise<Answer | undefined> {
  const order = await readOrder(request);
  const key = readKey(request);
  const course = courseFor('charge', request, office);
  if (!office.ledger.arrive(key)) return { status: 503, body: { error: 'the books are full' } };
  return run(course, () => toAnswer(office.ledger.apply(order, key)), office);
}

async function find(
  request: IncomingMessage,
  query: URLSearchParams,
  office: Office,
): Promise<Answer | undefined> {
  const reference = readReference('reference', query.get('reference'));
  const course = courseFor('find', request, office);
  const look = (): Answer => ({ status: 200, body: { charges: office.ledger.view(reference).charges } });
  return run(course, look, office);
}

/** For tests only: no real provider lets strangers look into its books. */
async function openBooks(query: URLSearchParams, { ledger, stopped }: Office): Promise<Answer> {
  const { wait, ...awaited } = readAwaited(query);
  try {
    return { status: 200, body: await ledger.until(awaited, wait, stopped) };
  } catch (error) {
    return { status: 504, body: { error: (error as Error).message } };
  }
}

function courseFor(kind: 'charge' | 'find', { headers }: IncomingMessage, { courses }: Office): Course {
  const fault = headers['x-fault'];
  if (fault === undefined) return courses[kind].shift() ?? smooth;
  const course = courseOf(String(fault));
  if (course === undefined) throw new BadRequest('x-fault', 'is no fault: faults.ts lists them');
  return course;
}

async function run(course: Course, act: () => Answer, { stopped }: Office): Promise<Answer | undefined> {
  const ending = await follow(course, act, stopped);
  switch (ending.kind) {
    case 'answered':
      return ending.answer;
    case 'unavailable':
      return { status: 503, body: { error: 'cannot tell: ask again later' } };
    case 'dropped':
      return undefined;
    default:
      return ending satisfies never;
  }
}

function toAnswer(applied: Applied): Answer {
  switch (applied.kind) {
    case 'made':
      return { status: 201, body: applied.charge };
    case 'merged':
      return { status: 200, body: applied.charge };
    case 'reused':
      return { status: 422, body: { error: 'this key was charged for another order' } };
    case 'declined':
      return { status: 402, body: { error: 'the card was declined' } };
    default:
      return applied satisfies never;
  }
}
