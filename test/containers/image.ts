import { run } from './command.ts';

const MEGABYTE = 1e6;
const shown = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MB`;

type Layer = { bytes: number; createdBy: string };

/**
 * The layers that an image adds to its base, the last one first, and the base's bytes.
 * @param history rows of `docker history` as JSON, sizes in bytes
 */
export const ownLayers = (
  history: readonly Layer[],
  base: readonly Layer[],
): { own: Layer[]; baseBytes: number } => ({
  own: history.slice(0, history.length - base.length).filter(({ bytes }) => bytes > 0),
  baseBytes: base.reduce((sum, { bytes }) => sum + bytes, 0),
});

const historyOf = async (docker: string, image: string): Promise<Layer[]> =>
  (await run(docker, ['history', '--human=false', '--no-trunc', '--format', '{{json .}}', image]))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { Size: string; CreatedBy: string })
    .map(({ Size, CreatedBy }) => ({
      bytes: Number(Size),
      createdBy: CreatedBy.replace(/ # buildkit$/, ''),
    }));

/** A line for the image and one for each layer that we add: `21.6 MB  COPY /product /app`. */
export const imageLines = async (docker: string, image: string, base: string): Promise<string[]> => {
  const { own, baseBytes } = ownLayers(await historyOf(docker, image), await historyOf(docker, base));
  const ours = own.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    `${image}: ${shown(baseBytes + ours)}, of which ${shown(baseBytes)} are the base ${base}`,
    ...own.map(({ bytes, createdBy }) => `  ${shown(bytes).padStart(9)}  ${createdBy}`),
  ];
};
