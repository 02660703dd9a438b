"""Verifies every DKIM signature of messages: JSON {"keys": {name: record}, "messages": [base64]} on
stdin; on stdout the results, one list of true and false for each message."""
import base64, json, sys
import dkim

job = json.load(sys.stdin)
keys = {name + ".": record.encode() for name, record in job["keys"].items()}

def txt(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    return keys.get(name if name.endswith(".") else name + ".")

results = []
for text in job["messages"]:
    message = base64.b64decode(text)
    verifier = dkim.DKIM(message)
    count = sum(1 for name, _ in verifier.headers if name.lower() == b"dkim-signature")
    results.append([bool(dkim.DKIM(message).verify(idx=i, dnsfunc=txt)) for i in range(count)])
json.dump(results, sys.stdout)
