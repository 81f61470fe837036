import { deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE_LENGTH = 8;

const chunksOf = (png: Buffer) => {
  const chunks: { type: string; data: Buffer; whole: Buffer }[] = [];
  for (let at = SIGNATURE_LENGTH; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const end = at + 12 + length;
    const type = png.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: png.subarray(at + 8, end - 4), whole: png.subarray(at, end) });
    at = end;
  }
  return chunks;
};

const CRC = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});
const crc = (bytes: Buffer): number =>
  (bytes.reduce((value, byte) => CRC[(value ^ byte) & 255]! ^ (value >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0;

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc(body));
  return Buffer.concat([length, body, sum]);
};

/** The same picture with the strongest compression. A browser takes a fast one. */
export const smallerPng = (png: Buffer): Buffer => {
  const chunks = chunksOf(png);
  const pixels = inflateSync(
    Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)),
  );
  const packed = chunk('IDAT', deflateSync(pixels, { level: 9, memLevel: 9 }));
  const first = chunks.findIndex(({ type }) => type === 'IDAT');
  const parts = chunks.flatMap(({ type, whole }, index) =>
    type === 'IDAT' ? (index === first ? [packed] : []) : [whole],
  );
  const smaller = Buffer.concat([png.subarray(0, SIGNATURE_LENGTH), ...parts]);
  return smaller.length < png.length ? smaller : png;
};
