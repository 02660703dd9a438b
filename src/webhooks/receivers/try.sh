AT=$(date +%s) BODY='{"type":"webhook.test"}'
KEY=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -tx1 | tr -d ' \n')
OWN=$(printf %s "id.$AT.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64)
for SIGNATURE in "v1,$OWN" v1,forged; do
  curl -sS -w '%{http_code}\n' http://127.0.0.1:8787/ -d "$BODY" -H 'webhook-id: id' -H "webhook-timestamp: $AT" -H "webhook-signature: $SIGNATURE"
done
