import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))

def is_genuine(headers, body):
    id, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    digest = hmac.new(KEY, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    own = b"v1," + base64.b64encode(digest)
    is_fresh = at.isdigit() and abs(time.time() - int(at)) < 300
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return is_fresh and any(hmac.compare_digest(own, one) for one in given)

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        genuine = is_genuine(self.headers, body)
        if genuine: print(json.loads(body)["type"], flush=True)
        self.send_response(204 if genuine else 401)
        self.end_headers()
HTTPServer(("127.0.0.1", 8787), Receiver).serve_forever()
