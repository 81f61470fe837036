import { expect, test as plainTest } from '@jest/globals';
import { durables, STREAMS } from '../shared/bus/topology.ts';
import { flowsOfCode } from './support/k8s/code-flows.ts';
import { allowedFlows } from './support/k8s/flows.ts';
import { podFindings } from './support/k8s/policies.ts';
import { missing, nameOf, renderWith } from './support/k8s/render.ts';

/** Checks the components of k8s/ that an overlay of an installation adds. */

const why = missing();
if (why !== null) console.warn(`k8s: the components are skipped: ${why}`);
const test = why === null ? plainTest : plainTest.skip;

test('with NACK there is no job for the bus, and a resource for each of its streams and consumers', () => {
  const objects = renderWith('test', 'quittance-test', ['nack']);
  const ofKind = (wanted: string) => objects.filter(({ kind }) => kind === wanted);
  expect(ofKind('Job').map(({ metadata }) => metadata.name)).toEqual(['migrate']);
  expect(new Set(ofKind('Stream').map(({ spec }) => spec.name))).toEqual(new Set(Object.values(STREAMS)));
  const wanted = durables().map(({ stream, durable, filter }) => [stream, durable, filter]);
  const given = ofKind('Consumer').map(({ spec }) => [spec.streamName, spec.durableName, spec.filterSubject]);
  expect(new Set(given)).toEqual(new Set(wanted));
  expect(new Set(objects.map(nameOf)).size).toBe(objects.length);
  expect(allowedFlows(objects)).toContain('nack-system → quittance-test/nats:4222');
});

test('with the component backup, its two jobs reach the database and one of them the chain, and nothing else', () => {
  const objects = renderWith('single-node', 'quittance', ['backup', 'release']);
  const jobs = objects.filter(({ kind }) => kind === 'CronJob');
  expect(jobs.map(({ metadata, spec }) => [metadata.name, spec.suspend === true])).toEqual([
    ['backup', false],
    ['restore', true],
  ]);
  expect(jobs.flatMap(podFindings)).toEqual([]);
  expect([...allowedFlows(objects)].sort()).toEqual([...flowsOfCode(objects)].sort());
});
