import { readYaml, SettingsError } from '../ground/yaml-file.ts';
import { GateFile, settingNames } from './config.ts';

/**
 * Reads the file of a gate.
 * @param name of the file, for messages
 * @throws SettingsError with every mistake, each with its line
 */
export const readGateFile = (name: string, content: string): GateFile => {
  const file = readYaml(name, content);
  const parsed = GateFile.safeParse(file.value);
  if (parsed.success) return parsed.data;
  throw new SettingsError(file.mistakes(parsed.error, [], settingNames).join('\n'));
};
