import { ErrorCode, NatsError } from 'nats';
import { IdleHeartbeatMonitor } from 'nats/lib/nats-base-client/idleheartbeat_monitor.js';
import { ProtocolHandler } from 'nats/lib/nats-base-client/protocol.js';
import { ServerImpl } from 'nats/lib/nats-base-client/servers.js';
import { NodeTransport } from 'nats/lib/src/node_transport.js';

/**
 * Fixes for reconnecting in nats 2.29.3, applied to every connection of the process. Each bug keeps
 * a process disconnected from a server that answers other clients. The library has no setting for
 * any of them.
 */

/**
 * Replaces a time of the wall clock by one of the monotonic clock. Otherwise a clock that is set
 * back by five minutes makes the library wait five minutes.
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
// The time of the last attempt: the next one follows after a wait.
keepOffTheWallClock(ServerImpl.prototype, 'lastConnect');
// The time of the last message of a consumer: after silence it asks the stream again.
keepOffTheWallClock(IdleHeartbeatMonitor.prototype as unknown as { last: number }, 'last');

/**
 * Ends the handshake when the server closes the connection. The library waits until the attempt
 * times out.
 */
const { disconnected } = ProtocolHandler.prototype;
ProtocolHandler.prototype.disconnected = function (this: ProtocolHandler, error?: Error): Promise<void> {
  this.connectError?.(error ?? NatsError.errorForCode(ErrorCode.Disconnect));
  return disconnected.call(this, error);
};

/**
 * Closes the socket of an abandoned attempt. The library leaves it open, and drops the connection
 * in use when it closes.
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

/** Drops a dead connection at once. The library waits until its buffered data is sent. */
NodeTransport.prototype.disconnect = function (this: NodeTransport): void {
  void this.close();
};
