package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isGenuine(key []byte, headers http.Header, body []byte) bool {
	id, at := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if age := time.Now().Unix() - seconds; err != nil || age >= 300 || age <= -300 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	own := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(own), []byte(one)) {
			return true
		}
	}
	return false
}

func main() {
	secret := strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil || !isGenuine(key, request.Header, body) {
			answer.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event struct{ Type string }
		json.Unmarshal(body, &event)
		fmt.Println(event.Type)
		answer.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:8787", nil))
}
