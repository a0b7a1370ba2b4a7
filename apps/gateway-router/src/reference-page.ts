import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from 'express';

const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const assetNames = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatehouse API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Keys that are typed in stay in the page's memory: `persistAuthorization` is off by default. */
const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
});
`;

/** All from this origin. Swagger UI has some of its icons as `data:` images. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `/docs`, to where `/` leads: the reference, drawn from `/openapi.json` by Swagger UI, without any foreign host. */
export function referencePage(): Router {
  const router = Router({ caseSensitive: true });
  router.get('/', (_req, res) => res.redirect('/docs'));
  router.get('/docs', (_req, res) => {
    res.set('Content-Security-Policy', contentSecurityPolicy).type('html').send(page);
  });
  router.get('/docs/start.js', (_req, res) => void res.type('js').send(start));
  for (const name of assetNames) {
    router.get(`/docs/${name}`, (_req, res) => {
      res.sendFile(name, { root: assets, maxAge: '1h' });
    });
  }
  return router;
}
