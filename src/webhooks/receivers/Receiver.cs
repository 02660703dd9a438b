using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

var secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET")!;
var key = Convert.FromBase64String(secret["whsec_".Length..]);

bool IsGenuine(HttpListenerRequest request, byte[] body)
{
    var (id, at) = (request.Headers["webhook-id"], request.Headers["webhook-timestamp"]);
    if (!long.TryParse(at, out var seconds)) return false;
    if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) >= 300) return false;
    byte[] signed = [.. Encoding.UTF8.GetBytes($"{id}.{at}."), .. body];
    var own = "v1," + Convert.ToBase64String(HMACSHA256.HashData(key, signed));
    var given = (request.Headers["webhook-signature"] ?? "").Split(' ');
    return given.Any(one => CryptographicOperations.FixedTimeEquals(
        Encoding.UTF8.GetBytes(own), Encoding.UTF8.GetBytes(one)));
}

var listener = new HttpListener();
listener.Prefixes.Add("http://127.0.0.1:8787/");
listener.Start();
while (true)
{
    var context = listener.GetContext();
    using var stream = new MemoryStream();
    context.Request.InputStream.CopyTo(stream);
    var body = stream.ToArray();
    var genuine = IsGenuine(context.Request, body);
    if (genuine) Console.WriteLine(JsonDocument.Parse(body).RootElement.GetProperty("type"));
    context.Response.StatusCode = genuine ? 204 : 401;
    context.Response.Close();
}
