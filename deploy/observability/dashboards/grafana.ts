import type { Dashboard, Panel } from './dashboard.ts';

const UNITS: Record<Panel['unit'], string> = {
  short: 'short',
  s: 's',
  percentunit: 'percentunit',
  reqps: 'cps',
  micro_usdc: 'suffix: µUSDC',
  sol: 'suffix: SOL',
  bool: 'bool_yes_no',
};
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
const WIDTH = 12;
const HEIGHT = 8;

/** The panels of all rows, two per line, on Grafana's grid of 24 columns. */
const panelsOf = ({ rows }: Dashboard): object[] => {
  let y = 0;
  let id = 0;
  const nextId = () => {
    id += 1;
    return id;
  };
  return rows.flatMap(({ title, panels }) => {
    const header = { id: nextId(), type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 } };
    const top = y + 1;
    y = top + Math.ceil(panels.length / 2) * HEIGHT;
    return [
      header,
      ...panels.map(({ title: name, about, unit, queries, stat = false }, index) => ({
        id: nextId(),
        type: stat ? 'stat' : 'timeseries',
        title: name,
        description: about,
        datasource: DATASOURCE,
        gridPos: { x: (index % 2) * WIDTH, y: top + Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
        fieldConfig: { defaults: { unit: UNITS[unit], min: 0 }, overrides: [] },
        options: stat
          ? {}
          : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
        targets: queries.map(({ expr, legend = '' }, number) => ({
          refId: String.fromCharCode(65 + number),
          datasource: DATASOURCE,
          expr,
          legendFormat: legend,
        })),
      })),
    ];
  });
};

/** The file of a dashboard in the provisioning format of Grafana 10 and newer. */
export const grafanaJson = (dashboard: Dashboard): string => {
  const variable = {
    label: 'Environment',
    name: 'environment',
    type: 'query',
    includeAll: true,
    multi: true,
  };
  const document = {
    uid: dashboard.uid,
    title: dashboard.title,
    tags: ['quittance'],
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'utc',
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          ...variable,
          datasource: DATASOURCE,
          query: 'label_values(quittance_quotes_total, environment)',
          current: { text: 'All', value: '$__all' },
          refresh: 2,
        },
      ],
    },
    panels: panelsOf(dashboard),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
};
