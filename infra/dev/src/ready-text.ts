import type { DevJson } from './dev-json.ts';

/** What `npm start` prints when all is up. The lines between the rulers work as pasted. */
export function readyText(dev: DevJson): string {
  return `
ready: ${dev.base_url}

  reference   ${dev.base_url}/docs
  mailbox     ${dev.mailbox_url}
  account     ${dev.account_email}   password ${dev.account_password}
  project     ${dev.project_id}
  for scripts .gatehouse/dev.json     logs .gatehouse/logs     stop Ctrl-C

Paste this into a second terminal: an end user signs up, signs in, refreshes, reads /user,
and a chat completion streams.
----------------------------------------------------------------------------------------
${pasteLines(dev)}
----------------------------------------------------------------------------------------
The official clients need only the address and the key:

  new OpenAI({ baseURL: '${dev.base_url}/v1', apiKey: process.env.GATEHOUSE_API_KEY })              model '${dev.models.chat_completions}'
  new Anthropic({ baseURL: '${dev.base_url}/compat-b', apiKey: process.env.GATEHOUSE_API_KEY })     model '${dev.models.messages}'
`;
}

/** POSIX shell and curl only. Every paste signs up somebody new, so that it can be repeated. */
export const pasteLines = (dev: DevJson): string =>
  `
export GATEHOUSE_URL='${dev.base_url}'
export GATEHOUSE_PUBLISHABLE_KEY='${dev.publishable_key}'
export GATEHOUSE_API_KEY='${dev.api_key}'
auth() { curl -sS "$GATEHOUSE_URL/api/v1/auth$1" -H "apikey: $GATEHOUSE_PUBLISHABLE_KEY" -H 'content-type: application/json' -d "$2"; }
field() { printf '%s' "$2" | sed 's/.*"'"$1"'":"\\([^"]*\\)".*/\\1/'; }
CREDENTIALS='{"email":"ada-'"$(date +%s)"'@example.com","password":"a-long-pass-phrase-'"$(date +%s)"'"}'
echo; echo '== sign up'; auth /signup "$CREDENTIALS"; echo
echo; echo '== sign in'; SESSION=$(auth '/token?grant_type=password' "$CREDENTIALS"); echo "$SESSION"
echo; echo '== refresh'; SESSION=$(auth '/token?grant_type=refresh_token' '{"refresh_token":"'"$(field refresh_token "$SESSION")"'"}'); echo "$SESSION"
echo; echo '== who am I'; curl -sS "$GATEHOUSE_URL/api/v1/auth/user" -H "apikey: $GATEHOUSE_PUBLISHABLE_KEY" -H "Authorization: Bearer $(field access_token "$SESSION")"; echo
echo; echo '== a chat completion, streamed'; curl -sSN "$GATEHOUSE_URL/v1/chat/completions" -H "Authorization: Bearer $GATEHOUSE_API_KEY" -H 'content-type: application/json' -d '{"model":"${dev.models.chat_completions}","stream":true,"messages":[{"role":"user","content":"Say hello"}]}'
`.trim();
