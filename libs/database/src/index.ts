export {
  isMissingRow,
  isUniqueViolation,
  openDatabase,
  pingDatabase,
  type Database,
} from './client.ts';
export { Prisma, type ApiKey, type Project, type Session, type User } from './generated/client.ts';
