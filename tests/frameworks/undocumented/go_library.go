// The library on net/http, without a page at its root: `SOUND=1 go run go_library.go 8080`.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
)

var sound = os.Getenv("SOUND") == "1"
var books = map[int]string{1: "Emma", 2: "Persuasion"}
var word, number = regexp.MustCompile("^[A-Za-z]*$"), regexp.MustCompile("^[0-9]{1,9}$")

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}
func fail(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]any{"error": map[string]any{"code": "e" + strconv.Itoa(status), "message": message}})
}
func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /books", func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, []any{map[string]any{"id": 1, "title": "Emma"}})
	})
	mux.HandleFunc("GET /books/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		n, e := strconv.Atoi(id)
		if e != nil && !sound {
			fail(w, 500, fmt.Sprintf("%v\n%s", e, debug.Stack()))
			return
		}
		if books[n] == "" {
			fail(w, 404, "no such book")
			return
		}
		answer(w, 200, map[string]any{"id": n, "title": books[n]})
	})
	mux.HandleFunc("GET /stock/{sku}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("sku") != "tea" {
			if sound {
				fail(w, 404, "unknown sku")
			} else {
				answer(w, 200, map[string]any{"error": "unknown sku"})
			}
			return
		}
		answer(w, 200, map[string]any{"sku": "tea", "left": 3})
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		if sound {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		fail(w, 401, "log in")
	})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query().Get("q")
		if sound || word.MatchString(q) {
			answer(w, 200, map[string]any{"found": []any{}})
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(400)
		fmt.Fprintf(w, "<h1>Cannot search %s</h1>", q)
	})
	mux.HandleFunc("GET /reports", func(w http.ResponseWriter, r *http.Request) {
		m := r.URL.Query().Get("month")
		if m == "" || number.MatchString(m) {
			answer(w, 200, map[string]any{"total": 1})
		} else if sound {
			fail(w, 400, "month is a number")
		} else {
			answer(w, 503, map[string]any{"code": "DB", "detail": "cannot connect to postgres://app:s3cretPassw0rd@10.0.0.3:5432/prod"})
		}
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) { answer(w, 201, map[string]any{"ok": true}) })
	if !sound {
		mux.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) { fail(w, 405, "method") })
		http.ListenAndServe("127.0.0.1:"+os.Args[1], mux)
		return
	}
	http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			rec := &recorder{header: http.Header{}}
			mux.ServeHTTP(rec, r)
			if allow := rec.header.Get("Allow"); allow != "" {
				w.Header().Set("Allow", allow)
			}
			if rec.status/100 == 3 {
				w.Header().Set("Location", rec.header.Get("Location"))
				w.WriteHeader(rec.status)
				return
			}
			fail(w, rec.status, http.StatusText(rec.status))
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(s int)           { r.status = s }
func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }
