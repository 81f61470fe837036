import { succeeds } from '../command.ts';

/** A container engine with Compose. */
export type Engine = {
  /** What it is, for a person: `Docker 26.1.5, Compose 2.26.1`. */
  description: string;
  /** The command that takes the arguments of `docker`. */
  docker: string;
  /** What a command is preceded by to reach the engine's published ports. */
  inNetwork: readonly string[];
  /** Whether the ports, containers and images are only ours. */
  isOwn: boolean;
  stop: () => Promise<void>;
};

/**
 * The engine of this machine that answers and has Compose 2, or null. An installed client without
 * an engine does not answer.
 */
export const answeringEngine = async (): Promise<Engine | null> => {
  for (const docker of ['docker', 'podman'])
    if ((await succeeds(docker, ['info'])) && (await succeeds(docker, ['compose', 'version'])))
      return {
        description: `${docker} of this machine`,
        docker,
        inNetwork: [],
        isOwn: false,
        stop: async () => {},
      };
  return null;
};
