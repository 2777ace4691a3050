import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/domain/canonical-json.ts';
import { toJson } from '../../src/domain/canonical-value.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';

function ofText(text: string): string {
  const document = parseJson(text);
  if (document === undefined) throw new Error(`not JSON: ${text}`);
  return fingerprintOf(document);
}
const ofValue = (value: unknown): string => fingerprintOf(toJson(value));

/** Committed: a record written by one version is compared by the next. */
const golden: [text: string, canonical: string, digest: string][] = [
  ['null', 'null', '1:dCNOmK_nSY-12vHzasLXiswzlGT5UHA7jAGYkvmCuQs'],
  ['{}', '{}', '1:RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o'],
  ['[ ]', '[]', '1:T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU'],
  [
    '{"b":[2,1.0],"a":{"d":null,"c":"x"}}',
    '{"a":{"c":"x","d":null},"b":[2,1]}',
    '1:xHziLTPxnM-l6b0w-0ndavuJAz1XxHV3UlAK81bDjRA',
  ],
  ['9007199254740993', '9007199254740993e0', '1:QnmstfrC7XncRrxD-9C9JPQyIkoZr_VwMT4auv8qWxM'],
  ['"\\ud800"', '"\\ud800"', '1:jAxZ3Q0nWq3NRipf4S6zUsvf6vlh6uT4WkZgUh330vU'],
  [
    '{"\\ufb33":5,"é":3,"😀":4,"Z":1,"a":2}',
    '{"Z":1,"a":2,"é":3,"😀":4,"\ufb33":5}',
    '1:GoBXLbYUEjxp8d5yjE6pc1yCEy1rAS8YzIW-dKngnPs',
  ],
];

describe('digests that stay', () => {
  test.each(golden)('F02 F10: %s', (text, canonical, digest) => {
    expect(ofText(text)).toBe(digest);
    // what the digest is, said independently
    expect(digest).toBe(`1:${createHash('sha256').update(canonical).digest('base64url')}`);
  });

  test('F05: values beyond JSON', () => {
    expect(ofValue(new Date('2026-01-02T03:04:05.678Z'))).toBe(
      '1:5VRkskpeCPfD6kY2vt1fvIgR-A_o3pPSZU51WySTBj0',
    );
    expect(ofValue(12345678901234567890n)).toBe('1:_hE_9CLD3tNNUejAgApYMl5d5lVANYri81aApVbfWBU');
    expect(ofValue(Buffer.from([0, 255]))).toBe('1:oG-6FDyp1jZWGq3JWRxPTTpkyOyL6BWNN1zwEoOUcis');
  });

  test.each([
    ['sv_SE.UTF-8', 'sv-SE'],
    ['C', 'en-US'],
    ['tr_TR.UTF-8', 'tr-TR'],
  ])('F02: the same under LANG=%s', (language, locale) => {
    const source = `
      import { parseJson } from ${JSON.stringify(new URL('../../src/domain/canonical-json.ts', import.meta.url))};
      import { fingerprintOf } from ${JSON.stringify(new URL('../../src/domain/fingerprint.ts', import.meta.url))};
      const texts = ${JSON.stringify(golden.map(([text]) => text))};
      const digests = texts.map((text) => fingerprintOf(parseJson(text)));
      console.log(JSON.stringify({ locale: Intl.Collator().resolvedOptions().locale, digests }));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', source], {
      env: { LANG: language, LC_ALL: language, LANGUAGE: language },
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toEqual({ locale, digests: golden.map(([, , digest]) => digest) });
  });
});
