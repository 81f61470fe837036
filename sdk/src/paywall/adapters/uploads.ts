import { hexHash, utf8 } from '../../checks/encoding.ts';
import { ConsumedBodyError } from '../base/incoming.ts';

/**
 * Files that a parser has taken out of a body before the paywall: `file` and `files` of a request,
 * as multer and express-fileupload set them.
 */
export type Uploading = { file?: unknown; files?: unknown };

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** The files of a list, of lists by field, or of files by field. */
const filesIn = (value: unknown): Fields[] => {
  if (!isObject(value)) return [];
  if (Array.isArray(value)) return value.flatMap(filesIn);
  return 'mimetype' in value || 'originalname' in value ? [value] : Object.values(value).flatMap(filesIn);
};

/** @throws ConsumedBodyError if the bytes are somewhere else */
const bytesOf = (file: Fields): Uint8Array<ArrayBuffer> => {
  for (const bytes of [file.buffer, file.data])
    if (ArrayBuffer.isView(bytes) && (bytes.byteLength > 0 || file.size === 0))
      return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  throw new ConsumedBodyError(
    'an uploaded file is not in memory, so the paywall cannot tell it from another one; let the parser keep it in memory (memoryStorage of multer, no useTempFiles of express-fileupload), or sell the answer under the address of an upload that was made before',
  );
};

/**
 * What identifies the files of a request. Null: it has none.
 * @throws ConsumedBodyError if a file is not in memory
 */
export const uploadsOf = async ({ file, files }: Uploading): Promise<Uint8Array | null> => {
  const found = [...filesIn(file), ...filesIn(files)];
  if (found.length === 0) return null;
  const described = found.map(async (each) => {
    const { fieldname, originalname, name, mimetype } = each;
    return [fieldname, originalname ?? name, mimetype, await hexHash(bytesOf(each))];
  });
  return utf8(JSON.stringify(await Promise.all(described)));
};
