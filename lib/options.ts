import type { Duration } from 'aws-cdk-lib';

/** Options that no construct takes, and why: each would undo what the table is for. */
const refused: Readonly<Record<string, string>> = {
  replicas: replication('replicas'),
  multiRegionConsistency: replication('multiRegionConsistency'),
  witnessRegion: replication('witnessRegion'),
  globalTableSettingsReplicationMode: replication('globalTableSettingsReplicationMode'),
  timeToLiveAttribute:
    'the attribute is the runtime’s own, the same in every version; a table cannot change it while it is live',
  partitionKey: 'the key is the runtime’s own',
  sortKey: 'a record is one item',
};

/** Why a claim needs one home. */
export function replication(option: string): string {
  return (
    `${option} would run operations twice: with eventual replication two Regions both win the same claim and the last writer stays, ` +
    'and a strongly consistent global table has neither TTL nor transactions. Give each key one home Region'
  );
}

/** Refuses what a construct does not know: a misspelt option would be left out in silence. */
export function checkProps(construct: string, props: object, known: readonly string[]): void {
  for (const name of Object.keys(props)) {
    if (known.includes(name)) continue;
    const why = refused[name] ?? `it takes ${known.join(', ')}`;
    throw new Error(`${construct}: the option "${name}" is not accepted: ${why}.`);
  }
}

/** Refuses what is no whole number, or out of its range. */
export function checkWhole(
  construct: string,
  option: string,
  value: number,
  least: number,
  most: number,
): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new Error(`${construct}: ${option} is ${value}; it takes whole numbers from ${least} to ${most}.`);
}

/** Refuses a duration out of its range. */
export function checkDuration(
  construct: string,
  option: string,
  value: Duration,
  least: Duration,
  most: Duration,
): void {
  const seconds = value.toSeconds({ integral: false });
  if (seconds >= least.toSeconds() && seconds <= most.toSeconds()) return;
  throw new Error(
    `${construct}: ${option} is ${value.toHumanString()}; it takes ${least.toHumanString()} to ${most.toHumanString()}.`,
  );
}
