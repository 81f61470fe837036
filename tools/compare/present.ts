import { busPart, settingsPart, toolsPart } from './inside.ts';
import { cliPart, gatePart, metricsPart } from './programs.ts';
import { sdkPart } from './sdk-exports.ts';
import { formatted } from './stored.ts';

/**
 * docs/surface.json, from the contract and the sources. docs/openapi.json has the API and its
 * events.
 */
export const surfaceText = async (): Promise<string> =>
  formatted({
    SDK: sdkPart(),
    CLI: cliPart(),
    Tools: toolsPart(),
    Settings: await settingsPart(),
    'gate.yaml': gatePart(),
    Metrics: metricsPart(),
    Bus: await busPart(),
  });
