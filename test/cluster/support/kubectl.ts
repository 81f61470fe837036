import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** The only place that runs kubectl. */

/** An object of the API server, read at any depth. */
// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
export type ClusterObject = { apiVersion: string; kind: string; metadata: any } & Record<string, any>;

/** kubectl ended with another code than 0. The message has its arguments and its stderr. */
export class KubectlError extends Error {
  readonly stderr: string;
  constructor(args: readonly string[], code: number | null, stderr: string) {
    super(`kubectl ${args.join(' ')}: exit ${code}: ${stderr.trim()}`);
    this.stderr = stderr;
  }
}

/** A local port that leads to a pod or the API server. `stop` resolves when kubectl has ended. */
type Forward = { port: number; stop: () => Promise<void> };

const FORWARDING = /(?:Forwarding from|Starting to serve on) 127\.0\.0\.1:(\d+)/;
const FORWARD_WITHIN_MS = 30_000;

/** The local port that kubectl has opened, from the line that it prints. */
const openedPort = async (child: ChildProcess, args: readonly string[]): Promise<number> => {
  let printed = '';
  let complaint = '';
  child.stderr!.on('data', (chunk) => (complaint += String(chunk)));
  return new Promise((resolve, reject) => {
    const failed = (code: number | null) => reject(new KubectlError(args, code, complaint));
    const timer = setTimeout(() => child.kill(), FORWARD_WITHIN_MS);
    child.once('exit', failed);
    child.stdout!.on('data', (chunk) => {
      printed += String(chunk);
      const port = FORWARDING.exec(printed)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      child.off('exit', failed);
      resolve(Number(port));
    });
  });
};

/**
 * kubectl with a context and a namespace. Every call throws a KubectlError if kubectl fails.
 * @param namespace the namespace of every call; an argument `--namespace` replaces it
 */
export const kubectl = (context: string, namespace: string) => {
  const all = (args: readonly string[]) => ['--context', context, '--namespace', namespace, ...args];

  const outputOf = async (child: ChildProcessWithoutNullStreams, args: readonly string[], input: string) => {
    // A kubectl that has refused its arguments does not read its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const [out, complaint, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    if (code !== 0) throw new KubectlError(args, code, complaint);
    return out;
  };

  /** The text that kubectl prints. `input` is its standard input. */
  const run = (args: readonly string[], { input = '' }: { input?: string } = {}): Promise<string> =>
    outputOf(spawn('kubectl', all(args), { stdio: 'pipe' }), args, input);

  /** What commands of a shell print, such as those of a page. It ends at the first that fails. */
  const script = (commands: string): Promise<string> => {
    const text = `kubectl() { command kubectl --context "$CLUSTER_CONTEXT" "$@"; }\n${commands}`;
    const env = { ...process.env, CLUSTER_CONTEXT: context };
    return outputOf(spawn('bash', ['-ec', text], { stdio: 'pipe', env }), ['(a script)'], '');
  };

  /** What `kubectl … --output json` prints. */
  const json = async (args: readonly string[]): Promise<ClusterObject> =>
    JSON.parse(await run([...args, '--output', 'json'])) as ClusterObject;

  /** Starts a kubectl that opens a local port until it is stopped. */
  const open = async (args: readonly string[]): Promise<Forward> => {
    const child = spawn('kubectl', all(args), { stdio: ['ignore', 'pipe', 'pipe'] });
    const opened = await openedPort(child, args);
    const stop = async (): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    };
    return { port: opened, stop };
  };

  return {
    context,
    namespace,
    run,
    script,
    json,
    /** The items of a list, `list('pods', '--selector', 'app=x')`. */
    list: async (...args: string[]): Promise<ClusterObject[]> => (await json(['get', ...args])).items,
    /** Applies objects, or what a folder's kustomization renders. */
    apply: (what: string | readonly object[], ...options: string[]): Promise<string> =>
      typeof what === 'string'
        ? run(['apply', '--kustomize', what, ...options])
        : run(['apply', '--filename', '-', ...options], {
            // JSON, because kubectl reads YAML 1.1, where an unquoted `no` is a boolean.
            input: what.map((each) => JSON.stringify(each)).join('\n'),
          }),
    /** Waits until a rollout (`deployment/quote`) is complete. */
    rollout: (name: string, timeoutSeconds = 300): Promise<string> =>
      run(['rollout', 'status', name, `--timeout=${timeoutSeconds}s`]),
    logs: (target: string, ...options: string[]): Promise<string> => run(['logs', target, ...options]),
    /** What a command prints in a container of a pod (`pod-name` or `deployment/quote`). */
    exec: (target: string, command: readonly string[], input = ''): Promise<string> =>
      run(['exec', ...(input === '' ? [] : ['--stdin']), target, '--', ...command], { input }),
    /** Forwards a free local port to a port of a pod, or of one pod of a Service. */
    forward: (target: string, port: number): Promise<Forward> => open(['port-forward', target, `:${port}`]),
    /** Opens the API server, as this user of kubectl, on a free local port. */
    proxy: (): Promise<Forward> => open(['proxy', '--port=0']),
  };
};

export type Kubectl = ReturnType<typeof kubectl>;
