const POLL_MS = 500;

/**
 * Runs `stop` when npx has ended. npx passes SIGTERM on to the shell that it starts a command with,
 * and the shell does not pass it on: the gate would go on without anybody who knows of it.
 */
export const onEndOfNpx = ({ npm_command }: NodeJS.ProcessEnv, stop: () => void): void => {
  // A script of package.json may put the gate into the background on purpose.
  if (npm_command !== 'exec') return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    stop();
  }, POLL_MS);
  timer.unref();
};
