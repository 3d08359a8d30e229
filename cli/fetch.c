#include "cli/fetch.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "cli/value.h"

struct transfer {
	struct strbuf *body;
	bool too_long;
};

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;

	n *= size;
	if (n > FETCH_BODY_MAX - t->body->len) {
		t->too_long = true;
		return 0;
	}
	strbuf_add(t->body, data, n);
	return strbuf_failed(t->body) ? 0 : n;
}

/* A status command must not be led elsewhere: no redirects, no other protocols, and no proxy of
 * the environment between it and a daemon that is usually on this very host. */
static bool set_up(CURL *curl, const char *target, struct transfer *t, char *curl_err)
{
	return !curl_easy_setopt(curl, CURLOPT_URL, target) &&
	       !curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, curl_err) &&
	       !curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       !curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) &&
	       !curl_easy_setopt(curl, CURLOPT_PROXY, "") &&
	       !curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) &&
	       !curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, FETCH_TIMEOUT_MS) &&
	       !curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, FETCH_TIMEOUT_MS) &&
	       !curl_easy_setopt(curl, CURLOPT_USERAGENT, "rdma-pingmesh/" RPM_VERSION) &&
	       !curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data) &&
	       !curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
}

static const char *hint(CURLcode code)
{
	if (code == CURLE_COULDNT_CONNECT)
		return "; is rdma-pingmeshd running (systemctl status rdma-pingmesh), and does it "
		       "listen there?";
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		return "; --cacert FILE names the CA that signed its certificate";
	if (code == CURLE_OPERATION_TIMEDOUT)
		return "; no answer in 5 s";
	return "";
}

static bool transfer(const char *target, const struct access *how, struct strbuf *body,
		     long *ret_status, char err[FETCH_ERROR_MAX])
{
	struct transfer t = {.body = body};
	char curl_err[CURL_ERROR_SIZE] = "";
	CURL *curl = curl_easy_init();
	CURLcode code = CURLE_FAILED_INIT;

	if (curl && !access_apply(how, curl, err, FETCH_ERROR_MAX)) {
		curl_easy_cleanup(curl);
		return false;
	}
	if (curl && set_up(curl, target, &t, curl_err))
		code = curl_easy_perform(curl);
	if (!code)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_status);
	curl_easy_cleanup(curl);
	if (!code)
		return true;
	if (t.too_long)
		snprintf(err, FETCH_ERROR_MAX, "%.200s: the answer is longer than %zu MiB", target,
			 FETCH_BODY_MAX >> 20);
	else
		snprintf(err, FETCH_ERROR_MAX, "%.200s: %.100s%s", target,
			 curl_err[0] ? curl_err : curl_easy_strerror(code), hint(code));
	return false;
}

static bool parse(struct answer *a, const char *target, char err[FETCH_ERROR_MAX])
{
	json_error_t where;

	a->json = json_loadb(a->body.data ? a->body.data : "", a->body.len, 0, &where);
	if (!a->json) {
		snprintf(err, FETCH_ERROR_MAX, "%.200s: the answer is not JSON (%.100s)", target,
			 where.text);
		return false;
	}
	if (value_u64(a->json, "schema", 0) == 1)
		return true;
	snprintf(err, FETCH_ERROR_MAX,
		 "%.200s: the answer is not of schema 1: is this rdma-pingmeshd, and of the same "
		 "version?",
		 target);
	return false;
}

bool fetch(const char *url, const struct access *how, const char *path, struct answer *ret,
	   char err[FETCH_ERROR_MAX])
{
	char target[1024];
	long status = 0;

	*ret = (struct answer){0};
	snprintf(target, sizeof(target), "%s%s", url, path);
	if (!transfer(target, how, &ret->body, &status, err))
		return false;
	if (status == 200)
		return parse(ret, target, err);
	if (status == 401)
		snprintf(err, FETCH_ERROR_MAX,
			 "%.200s: it wants a user and a password: see --login and --netrc", target);
	else if (parse(ret, target, err))
		snprintf(
			err, FETCH_ERROR_MAX, "%.200s: answered %ld: %.200s", target, status,
			value_text(value_object(ret->json, "error"), "message", "no reason given"));
	else
		snprintf(err, FETCH_ERROR_MAX, "%.200s: answered %ld", target, status);
	return false;
}

void answer_free(struct answer *a)
{
	strbuf_free(&a->body);
	json_decref(a->json);
	a->json = NULL;
}
