import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IAlarmAction, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import {
  type AlarmRule,
  consumerRules,
  outboxRules,
  replayRules,
  runtimeRules,
  sweeperRules,
  tableRules,
} from './alarm-rules.ts';
import type { OnceOutbox } from './once-outbox.ts';
import type { OnceQueueConsumer } from './once-queue-consumer.ts';
import type { OnceSweeper } from './once-sweeper.ts';
import type { OnceTable } from './once-table.ts';
import { checkDuration, checkProps, checkWhole } from './options.ts';

/** Options of {@link OnceAlarms}. */
export interface OnceAlarmsProps {
  readonly table: OnceTable;
  readonly sweeper?: OnceSweeper;
  readonly outbox?: OnceOutbox;
  readonly consumers?: readonly OnceQueueConsumer[];
  /** What happens when one rings: `new SnsAction(topic)`. Default: nothing but the alarm's own state. */
  readonly actions?: readonly IAlarmAction[];
  /** Of what is open. A minute to 7 days. Default 15 minutes: a provider that does not answer for so long needs a person. */
  readonly oldestAge?: Duration;
  /** In 15 minutes. Default 10: one wrong client is a ticket, ten mismatches are a broken one. */
  readonly mismatches?: number;
  /** In percent of deliveries, for three hours. Default 40: so many retries of what succeeded are a broken configuration. */
  readonly replayRate?: number;
  /** Deliveries in an hour (high) or claims in a day (zero) from which a replay rate says something. Default 1000. */
  readonly traffic?: number;
  /** Items that the table should hold: rate × retention. Default: no alarm on its size. */
  readonly expectedItems?: number;
  /** Alarms that need metric math. Default `true`; `false` for emulators that do not know it. */
  readonly mathAlarms?: boolean;
}

const options = [
  'table',
  'sweeper',
  'outbox',
  'consumers',
  'actions',
  'oldestAge',
  'mismatches',
  'replayRate',
  'traffic',
  'expectedItems',
  'mathAlarms',
];

/**
 * Alarms on what the runtime emits (`observe: emfMetrics()`), on the sweeper, on DynamoDB and on dead letters. Each description says what
 * it means and what to do. Missing data never rings, but for the alarm that looks for silence.
 */
export class OnceAlarms extends Construct {
  /** By their ids, the headings of docs/alarms.md. */
  readonly alarms: ReadonlyMap<string, Alarm>;

  constructor(scope: Construct, id: string, props: OnceAlarmsProps) {
    super(scope, id);
    checkProps('OnceAlarms', props, options);
    const { table, sweeper, outbox, consumers = [], actions = [], mathAlarms = true } = props;
    const thresholds = {
      oldestAge: props.oldestAge ?? Duration.minutes(15),
      mismatches: props.mismatches ?? 10,
      replayRate: props.replayRate ?? 40,
      traffic: props.traffic ?? 1000,
      expectedItems: props.expectedItems,
    };
    checkDuration('OnceAlarms', 'oldestAge', thresholds.oldestAge, Duration.minutes(1), Duration.days(7));
    checkWhole('OnceAlarms', 'mismatches', thresholds.mismatches, 1, 1e9);
    checkWhole('OnceAlarms', 'replayRate', thresholds.replayRate, 1, 100);
    checkWhole('OnceAlarms', 'traffic', thresholds.traffic, 1, 1e12);
    checkWhole('OnceAlarms', 'expectedItems', thresholds.expectedItems ?? 1, 1, 1e15);
    const rules = [
      ...runtimeRules(table, thresholds),
      ...tableRules(table),
      ...replayRules(table, thresholds),
      ...(sweeper === undefined ? [] : sweeperRules(sweeper, thresholds)),
      ...(outbox === undefined ? [] : outboxRules(outbox)),
      ...consumers.flatMap(consumerRules),
    ].filter(({ math = false }) => mathAlarms || !math);
    this.alarms = new Map(rules.map((rule) => [rule.id, this.#alarm(rule)]));
    for (const alarm of this.alarms.values()) alarm.addAlarmAction(...actions);
  }

  #alarm(rule: AlarmRule): Alarm {
    const { id, metric, threshold, below = false, periods = 1, oneOf, missingRings = false } = rule;
    return new Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods: oneOf ?? periods,
      datapointsToAlarm: oneOf === undefined ? periods : 1,
      comparisonOperator: below
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: missingRings ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription: `${rule.means} ${rule.todo} Runbook: docs/alarms.md of lambda-once, "${runbook(id)}".`,
    });
  }
}

/** Several consumers have one runbook. */
function runbook(id: string): string {
  return id.replace(/\d+$/, '');
}
