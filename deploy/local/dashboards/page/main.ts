import uPlot from 'uplot';
import { formatValue } from '../format.ts';
import type { Dashboard, Panel } from '../panels.ts';
import type { Lines } from '../query.ts';

const EVERY_MS = 5000;
const HEIGHT = 210;
const SPANS = [
  ['15', 'last 15 minutes'],
  ['60', 'last hour'],
  ['180', 'last 3 hours'],
  ['1440', 'last day'],
] as const;
/** Distinct on a light and on a dark page. */
const COLOURS = [
  '#3b82f6',
  '#f59e0b',
  '#10b981',
  '#ef4444',
  '#a855f7',
  '#14b8a6',
  '#ec4899',
  '#84cc16',
  '#f97316',
  '#64748b',
];

const find = <Of extends Element>(selector: string): Of => document.querySelector<Of>(selector)!;
const element = (name: string, text = '', className = ''): HTMLElement => {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
};
const colourOf = (name: string): string => getComputedStyle(document.body).getPropertyValue(name);

type Shown = { panel: Panel; body: HTMLElement; chart?: uPlot; labels?: string };

const [nav, span, main] = [find('nav'), find<HTMLSelectElement>('select'), find('main')];
let dashboards: Dashboard[] = [];
let shown: Shown[] = [];

const current = (): Dashboard =>
  dashboards.find(({ uid }) => uid === location.hash.slice(1)) ?? dashboards[0]!;

const dataOf = ({ times, series }: Lines): uPlot.AlignedData => [
  times,
  ...series.map(({ values }) => values),
];

const chartOf = ({ panel, body }: Shown, lines: Lines): uPlot => {
  const axis = {
    stroke: () => colourOf('--quiet'),
    grid: { stroke: () => colourOf('--line'), width: 1 },
    ticks: { stroke: () => colourOf('--line'), width: 1 },
  };
  return new uPlot(
    {
      width: body.clientWidth,
      height: HEIGHT,
      cursor: { drag: { x: false, y: false }, sync: { key: 'time' } },
      scales: { y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [
        axis,
        {
          ...axis,
          size: 85,
          values: (_chart, values) => values.map((value) => formatValue(value, panel.unit)),
        },
      ],
      series: [
        { value: (_chart, value) => (value === null ? '' : new Date(value * 1000).toLocaleTimeString()) },
        ...lines.series.map(({ label }, index) => ({
          label: label || panel.title,
          stroke: COLOURS[index % COLOURS.length]!,
          width: 1.5,
          points: { show: false },
          value: (_chart: uPlot, value: number | null, at: number, time: number | null) =>
            formatValue(time === null ? lastOf(_chart.data[at] as (number | null)[]) : value, panel.unit),
        })),
      ],
    },
    dataOf(lines),
    body,
  );
};

/** The newest value of a line, for the legend while no time is pointed at. */
const lastOf = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null;

const draw = (each: Shown, lines: Lines): void => {
  const { panel, body } = each;
  if (lines.series.length === 0 || panel.type === 'stat') {
    each.chart?.destroy();
    delete each.chart;
    delete each.labels;
    const value = lines.series.length === 0 ? null : lastOf(lines.series[0]!.values);
    body.replaceChildren(
      value === null
        ? element('p', 'No data in this time.', 'empty')
        : element('p', formatValue(value, panel.unit), 'value'),
    );
    return;
  }
  const labels = lines.series.map(({ label }) => label).join('\n');
  if (each.chart !== undefined && each.labels === labels) {
    each.chart.setData(dataOf(lines));
    return;
  }
  each.chart?.destroy();
  body.replaceChildren();
  each.chart = chartOf(each, lines);
  each.labels = labels;
};

const refresh = async (): Promise<void> => {
  const { uid } = current();
  await Promise.all(
    shown.map(async (each) => {
      try {
        const answer = await fetch(`/lines/${uid}/${each.panel.id}?minutes=${span.value}`);
        const lines = (await answer.json()) as Lines;
        if (answer.ok && shown.includes(each)) draw(each, lines);
      } catch {
        // The stack was stopped. The next answer continues the lines.
      }
    }),
  );
};

const build = (): void => {
  for (const { chart } of shown) chart?.destroy();
  shown = [];
  const { uid, title, panels } = current();
  document.title = `${title} · Dashboards`;
  nav.replaceChildren(
    ...dashboards.map((each) => {
      const link = element('a', each.title) as HTMLAnchorElement;
      link.href = `#${each.uid}`;
      if (each.uid === uid) link.setAttribute('aria-current', 'page');
      return link;
    }),
  );
  main.replaceChildren(
    ...panels.map((panel) => {
      if (panel.type === 'row') return element('h2', panel.title);
      const section = element('section');
      const body = element('div', '', 'body');
      const heading = element('h3', panel.title);
      heading.title = panel.about;
      section.append(heading, element('p', panel.about, 'about'), body);
      shown.push({ panel, body });
      return section;
    }),
  );
  void refresh();
};

const start = async (): Promise<void> => {
  dashboards = (await (await fetch('/dashboards')).json()) as Dashboard[];
  for (const [minutes, text] of SPANS) span.append(new Option(text, minutes));
  span.addEventListener('change', build);
  addEventListener('hashchange', build);
  addEventListener('resize', () => {
    for (const { chart, body } of shown) chart?.setSize({ width: body.clientWidth, height: HEIGHT });
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', build);
  build();
  setInterval(() => {
    if (!document.hidden) void refresh();
  }, EVERY_MS);
};

void start();
