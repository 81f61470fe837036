import { ErrorCode, NatsError } from 'nats';
import { IdleHeartbeatMonitor } from 'nats/lib/nats-base-client/idleheartbeat_monitor.js';
import { ProtocolHandler } from 'nats/lib/nats-base-client/protocol.js';
import { ServerImpl } from 'nats/lib/nats-base-client/servers.js';
import { NodeTransport } from 'nats/lib/src/node_transport.js';

/**
 * What nats 2.29.3 does wrong after a connection was lost, mended for every connection of the
 * process. Each keeps a process away from a server that answers all others. It has settings for
 * none of them.
 */

/**
 * Keeps a moment that the library takes from the wall clock as one of the clock that never goes
 * back. Without it a clock that is set back by five minutes makes the library wait five minutes.
 */
const keepOffTheWallClock = <T extends object>(prototype: T, property: keyof T): void => {
  const moments = new WeakMap<object, number>();
  const offset = () => Date.now() - performance.now();
  Object.defineProperty(prototype, property, {
    get(this: object): number {
      return moments.get(this)! + offset();
    },
    set(this: object, moment: number) {
      moments.set(this, moment - offset());
    },
  });
};
// When a server was last called: no second call comes before that and a wait.
keepOffTheWallClock(ServerImpl.prototype, 'lastConnect');
// When a consumer last heard of its stream: silence since then makes it ask again.
keepOffTheWallClock(IdleHeartbeatMonitor.prototype as unknown as { last: number }, 'last');

/**
 * A server that goes in the middle of the handshake ends it. The library waits for its answer until
 * the time of the call is up.
 */
const { disconnected } = ProtocolHandler.prototype;
ProtocolHandler.prototype.disconnected = function (this: ProtocolHandler, error?: Error): Promise<void> {
  this.connectError?.(error ?? NatsError.errorForCode(ErrorCode.Disconnect));
  return disconnected.call(this, error);
};

/**
 * A call that was given up leaves nothing behind. The library leaves its socket open, and when that
 * ends it drops the connection in use.
 */
const givenUp = new WeakSet<NodeTransport>();
const { connect, close } = NodeTransport.prototype;
NodeTransport.prototype.connect = async function (this: NodeTransport, server, options): Promise<void> {
  await connect.call(this, server, options);
  if (givenUp.has(this)) this.socket.removeAllListeners().destroy();
};
NodeTransport.prototype.close = function (this: NodeTransport, error?: Error): Promise<void> {
  if (!this.connected) {
    givenUp.add(this);
    this.socket?.destroy();
  }
  return close.call(this, error);
};

/**
 * A dead connection is dropped at once. The library waits until it has taken what is to be sent.
 */
NodeTransport.prototype.disconnect = function (this: NodeTransport): void {
  void this.close();
};
