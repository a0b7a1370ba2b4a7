export { defineJob, scheduleJob, startWorker, type Job } from './queues.ts';
