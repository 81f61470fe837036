import { z } from 'zod';

const bases = new WeakMap<z.core.$ZodType, z.ZodObject>();

/**
 * An object with the fields of another and further ones. The API's document refers to the other
 * object and does not repeat its fields, so the other needs an id. It is for answers and events:
 * JSON Schema cannot refuse unknown fields of such an object.
 * @param shape the further fields
 * @param meta the id of the object, and further metadata. Without it, it has no name
 * @throws Error if a further field is one of the base
 */
export const extended = <Base extends z.ZodRawShape, Shape extends z.ZodRawShape>(
  base: z.ZodObject<Base>,
  shape: Shape,
  meta?: { id: string; description?: string },
) => {
  const repeated = Object.keys(shape).filter((name) => name in base.shape);
  if (repeated.length > 0) throw new Error(`the base has the field already: ${repeated.join(', ')}`);
  const plain = z.strictObject({ ...base.shape, ...shape });
  const named = meta === undefined ? plain : plain.meta(meta);
  bases.set(named, base as unknown as z.ZodObject);
  return named;
};

/** The object that a schema extends, or undefined. */
export const baseOf = (schema: z.core.$ZodType): z.ZodObject | undefined => bases.get(schema);
