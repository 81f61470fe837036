import type { ServerContext } from '@modelcontextprotocol/server';

/**
 * Progress of a call that may take minutes. A client ends a call that it hears nothing of, and most
 * count again from each notification.
 */

const AGAIN_MS = 5000;

type Progress = { say: (message: string) => void };

/** Reports progress while `work` runs, if the client has asked for it by a token. */
export const withProgress = async <T>(
  { mcpReq }: ServerContext,
  work: (progress: Progress) => Promise<T>,
): Promise<T> => {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return work({ say: () => undefined });
  let progress = 0;
  let last = '';
  const say = (message: string): void => {
    last = message;
    progress += 1;
    const params = { progressToken, progress, message };
    // A client that has gone does not need it.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const timer = setInterval(() => say(last), AGAIN_MS);
  try {
    return await work({ say });
  } finally {
    clearInterval(timer);
  }
};
