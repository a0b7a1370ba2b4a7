import { ApiError } from '@gatehouse/http';
import { z } from 'zod';

/** The query of a list. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().max(200).optional().meta({ description: '`next_cursor` of the page before.' }),
});

/** A page of a list, newest first. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  });

interface Row {
  id: string;
  createdAt: Date;
}

/** A time and an id as PostgreSQL can hold them: a made-up cursor must not reach it as an error. */
const cursorForm = z.tuple([
  z.iso.datetime().refine((time) => !time.startsWith('0000')),
  z.string().regex(/^[\w-]+$/),
]);

/** Where clause, order and count that read the page after a cursor, and one row more. */
export function pageWindow({ limit, cursor }: z.output<typeof pageQuery>) {
  return {
    ...(cursor !== undefined && { where: { OR: after(cursor) } }),
    orderBy: [{ createdAt: 'desc' as const }, { id: 'desc' as const }],
    take: limit + 1,
  };
}

/** The page of what {@link pageWindow} read. */
export function toPage<R extends Row, Body>(rows: R[], limit: number, render: (row: R) => Body) {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    data: shown.map(render),
    next_cursor: last
      ? Buffer.from(JSON.stringify([last.createdAt, last.id])).toString('base64url')
      : null,
  };
}

function after(cursor: string) {
  try {
    const [time, id] = cursorForm.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    const createdAt = new Date(time);
    return [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }];
  } catch {
    throw new ApiError('validation_failed', { message: 'cursor: not one that a list gave out' });
  }
}
