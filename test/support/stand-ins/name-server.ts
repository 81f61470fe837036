import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** A name server of one test, which answers questions for TXT records over UDP (RFC 1035). */
type NameServer = {
  /** As DOMAIN_NAME_SERVERS has it. */
  address: string;
  /** The values of a name. A long one is sent in parts, as name servers do. */
  set: (name: string, ...values: string[]) => void;
  /** Answers everything with this code. 2: the server has failed, 5: it refuses. */
  fail: (code: 0 | 2 | 5) => void;
  /** The names that it was asked for. */
  asked: string[];
  close: () => Promise<void>;
};

const [TXT, IN] = [16, 1];
const NO_NAME = 3;
/** A text of a record has a byte for its length. */
const LONGEST_PART = 255;

/** The question of a message: its name, and its bytes, which the answer repeats. */
const questionOf = (message: Buffer) => {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(12, at + 5),
  };
};

const recordOf = (value: string): Buffer => {
  const text = Buffer.from(value);
  const parts: Buffer[] = [];
  for (let at = 0; at < text.length; at += LONGEST_PART) {
    const part = text.subarray(at, at + LONGEST_PART);
    parts.push(Buffer.of(part.length), part);
  }
  const data = Buffer.concat(parts);
  // The name is that of the question, at byte 12. Nobody may keep the answer.
  const head = Buffer.from([0xc0, 12, 0, TXT, 0, IN, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
};

const answerOf = (message: Buffer, code: number, question: Buffer, records: readonly Buffer[]): Buffer => {
  const head = Buffer.alloc(12);
  message.copy(head, 0, 0, 2);
  // An answer of this server, to a question that wanted recursion, which it has.
  head.writeUInt16BE(0x8580 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, question, ...records]);
};

const listen = async (port: number): Promise<Socket> => {
  const socket = createSocket('udp4');
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
};

/** A port that nobody has bound, for a name server that is started later. */
export const freeUdpPort = async (): Promise<number> => {
  const socket = await listen(0);
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
};

/** @param port default: any free one */
export const startNameServer = async (port = 0): Promise<NameServer> => {
  const names = new Map<string, readonly string[]>();
  const asked: string[] = [];
  let failure = 0;
  const socket = await listen(port);
  socket.on('message', (message, { address, port: from }) => {
    const { name, type, bytes } = questionOf(message);
    asked.push(name);
    const values = names.get(name);
    const records = failure === 0 && type === TXT ? (values ?? []).map(recordOf) : [];
    const code = failure === 0 && values === undefined ? NO_NAME : failure;
    socket.send(answerOf(message, code, bytes, records), from, address);
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    set: (name, ...values) => void names.set(name, values),
    fail: (code) => {
      failure = code;
    },
    asked,
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
};
