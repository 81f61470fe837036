/**
 * The first file of a command, which checks the version of Node before anything else is loaded: an
 * older Node would stop at the first import that it does not have. So it uses nothing that Node 14
 * lacks.
 * @param engine what package.json claims, like `>=22.19`
 * @param program the file beside it that is the command
 */
export const nodeGuard = (command: string, engine: string, program: string): string => {
  const [, needed] = /^>=(\d+\.\d+)$/.exec(engine) ?? [];
  if (needed === undefined) throw new Error(`engines.node of ${command} is "${engine}", not like ">=22.19"`);
  const [major, minor] = needed.split('.');
  return `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > ${major} || (major === ${major} && minor >= ${minor})) await import('./${program}');
else {
  console.error('${command} needs Node ${needed} or newer, and this is Node ' + process.versions.node + '.');
  process.exitCode = 1;
}
`;
};
