import { z } from 'zod';

const Value = z.looseObject({
  stringValue: z.string().optional(),
  boolValue: z.boolean().optional(),
  intValue: z.union([z.string(), z.number()]).optional(),
  doubleValue: z.number().optional(),
});
const Attributes = z.array(z.object({ key: z.string(), value: Value })).default([]);
const OtlpSpan = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number().default(0),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: Attributes,
  links: z.array(z.looseObject({ traceId: z.string(), spanId: z.string() })).default([]),
  status: z.looseObject({ code: z.number().optional() }).default({}),
});
/** The fields of an OTLP/HTTP export in JSON that the page shows. */
export const Export = z.looseObject({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: Attributes }),
      scopeSpans: z.array(z.looseObject({ spans: z.array(OtlpSpan) })),
    }),
  ),
});

const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

export type TracedSpan = {
  span_id: string;
  parent_span_id: string | null;
  service: string;
  name: string;
  kind: (typeof KINDS)[number];
  /** Epoch microseconds. */
  started_us: number;
  duration_us: number;
  failed: boolean;
  attributes: Record<string, string | number | boolean>;
  links: { trace_id: string; span_id: string }[];
};
export type Trace = { trace_id: string; spans: TracedSpan[] };

const plain = (attributes: z.infer<typeof Attributes>): TracedSpan['attributes'] =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue ?? 0),
    ]),
  );

const names = ({ attributes }: TracedSpan, id: string): boolean =>
  Object.values(attributes).some((value) => value === id);

const micros = (nano: string): number => Number(BigInt(nano) / 1000n);

/** Stores the newest traces in memory, until the process ends. */
export const createTraceStore = ({ traces: most = 2000, spansEach = 2000 } = {}) => {
  const byId = new Map<string, Trace>();
  return {
    add: (exported: z.infer<typeof Export>): void => {
      for (const { resource, scopeSpans } of exported.resourceSpans) {
        const service = String(plain(resource.attributes)['service.name'] ?? 'unknown');
        for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
          const trace = byId.get(span.traceId) ?? { trace_id: span.traceId, spans: [] };
          byId.set(span.traceId, trace);
          if (byId.size > most) byId.delete(byId.keys().next().value!);
          if (trace.spans.length >= spansEach) continue;
          trace.spans.push({
            span_id: span.spanId,
            parent_span_id: span.parentSpanId || null,
            service,
            name: span.name,
            kind: KINDS[span.kind] ?? '',
            started_us: micros(span.startTimeUnixNano),
            duration_us: micros(span.endTimeUnixNano) - micros(span.startTimeUnixNano),
            failed: span.status.code === 2,
            attributes: plain(span.attributes),
            links: span.links.map(({ traceId, spanId }) => ({ trace_id: traceId, span_id: spanId })),
          });
        }
      }
    },
    get: (traceId: string): Trace | undefined => byId.get(traceId),
    /** Newest first. */
    list: (): Trace[] => [...byId.values()].reverse(),
    /** Those with this trace id, or with this value in a span: an id of an object, a request id. */
    find: (id: string): Trace[] =>
      [...byId.values()]
        .filter(({ trace_id, spans }) => trace_id === id || spans.some((span) => names(span, id)))
        .reverse(),
  };
};

/**
 * A span with its children in the order of their start. A span whose parent is missing is a root.
 */
export type Branch = TracedSpan & { children: Branch[] };

/** The tree of a trace, for the page and for tests. */
export const treeOf = ({ spans }: Trace): Branch[] => {
  const branches = new Map(spans.map((span) => [span.span_id, { ...span, children: [] as Branch[] }]));
  const roots: Branch[] = [];
  const inOrder = [...branches.values()].sort((a, b) => a.started_us - b.started_us);
  for (const branch of inOrder) {
    const parent = branch.parent_span_id === null ? undefined : branches.get(branch.parent_span_id);
    (parent?.children ?? roots).push(branch);
  }
  return roots;
};
