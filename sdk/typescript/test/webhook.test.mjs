// The verification of webhooks against the signatures of the standardwebhooks package.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook, WebhookError } from 'unitask'

const secret = 'whsec_' + Buffer.from('a secret of twenty-four b').toString('base64')
const other = 'whsec_' + Buffer.from('one that came before it..').toString('base64')
const body = JSON.stringify({ type: 'task.succeeded', timestamp: '2026-01-01T00:00:00Z', data: { id: 'task_ä', state: 'succeeded' } })

function signed({ by = secret, at = new Date(), id = 'task_1.0', content = body } = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(by).sign(id, at, content),
  }
}

test('signatures of the npm package', async () => {
  const event = await verifyWebhook({ body, headers: signed(), secret })
  assert.equal(event.data.id, 'task_ä')
  assert.deepEqual(await verifyWebhook({ body: new TextEncoder().encode(body), headers: new Headers(signed()), secret }), event)
  const both = { ...signed(), 'webhook-signature': `${signed({ by: other })['webhook-signature']} v1a,x ${signed()['webhook-signature']}` }
  assert.deepEqual(await verifyWebhook({ body, headers: both, secret }), event, 'one of several signatures')
  assert.deepEqual(await verifyWebhook({ body, headers: signed(), secret: [other, secret] }), event, 'one of several secrets')
  const upper = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]))
  assert.deepEqual(await verifyWebhook({ body, headers: upper, secret }), event)
})

test('all else is refused', async () => {
  const ago = (seconds) => new Date(Date.now() - 1000 * seconds)
  const faulty = {
    'another secret': { headers: signed({ by: other }) },
    'another body': { headers: signed(), body: body + ' ' },
    'another id': { headers: { ...signed(), 'webhook-id': 'task_2.0' } },
    'another time': { headers: { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 1) } },
    'an old one': { headers: signed({ at: ago(310) }) },
    'one ahead': { headers: signed({ at: ago(-310) }) },
    'no time': { headers: { ...signed(), 'webhook-timestamp': 'now' } },
    'no signature': { headers: { ...signed(), 'webhook-signature': undefined } },
    'another version': { headers: { ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1,', 'v2,') } },
    'no base64': { headers: { ...signed(), 'webhook-signature': 'v1,%' } },
    'an empty secret': { headers: signed(), secret: 'whsec_' },
  }
  for (const [name, options] of Object.entries(faulty)) {
    await assert.rejects(verifyWebhook({ body, secret, ...options }), WebhookError, name)
  }
  const late = verifyWebhook({ body, secret, headers: signed({ at: ago(3600) }), tolerance: 7200 })
  assert.equal((await late).type, 'task.succeeded')
})
