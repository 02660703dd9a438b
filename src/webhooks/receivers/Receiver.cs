using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

static class Receiver
{
    static readonly byte[] Key = Convert.FromBase64String(
        Environment.GetEnvironmentVariable("WEBHOOK_SECRET").Substring("whsec_".Length));

    static bool IsGenuine(HttpListenerRequest request, byte[] body)
    {
        var id = request.Headers["webhook-id"];
        var at = request.Headers["webhook-timestamp"];
        long seconds;
        if (!long.TryParse(at, out seconds)) return false;
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) >= 300) return false;
        var signed = Encoding.UTF8.GetBytes(id + "." + at + ".").Concat(body).ToArray();
        using (var hmac = new HMACSHA256(Key))
        {
            var own = "v1," + Convert.ToBase64String(hmac.ComputeHash(signed));
            var given = request.Headers["webhook-signature"] ?? "";
            return given.Split(' ').Any(one => AreEqual(own, one));
        }
    }

    // Takes as long wherever the texts differ.
    static bool AreEqual(string own, string given)
    {
        if (own.Length != given.Length) return false;
        var difference = 0;
        for (var n = 0; n < own.Length; n++) difference |= own[n] ^ given[n];
        return difference == 0;
    }

    static void Main()
    {
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:8787/");
        listener.Start();
        while (true)
        {
            var context = listener.GetContext();
            var stream = new MemoryStream();
            context.Request.InputStream.CopyTo(stream);
            var genuine = IsGenuine(context.Request, stream.ToArray());
            var text = Encoding.UTF8.GetString(stream.ToArray());
            if (genuine) Console.WriteLine(Regex.Match(text, "\"type\": ?\"([^\"]+)\"").Groups[1].Value);
            context.Response.StatusCode = genuine ? 204 : 401;
            context.Response.Close();
        }
    }
}
