#include "cli/access.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOGIN_MAX 512 /* bytes of the line */

static const char *from_environment(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

void access_from_environment(struct access *a)
{
	a->cacert = from_environment("RDMA_PINGMESH_CACERT");
	a->cert = from_environment("RDMA_PINGMESH_CERT");
	a->key = from_environment("RDMA_PINGMESH_KEY");
	a->login = from_environment("RDMA_PINGMESH_LOGIN");
}

static bool refuse(const char *path, const char *why, char *err, size_t errlen)
{
	snprintf(err, errlen, "%s: %s", path, why);
	return false;
}

static bool read_line(const char *path, char line[LOGIN_MAX + 2], char *err, size_t errlen)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return refuse(path, strerror(errno), err, errlen);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & S_IRWXO)) {
		close(fd);
		return refuse(path, "its mode lets others read it: chmod o-rwx", err, errlen);
	}
	n = read(fd, line, LOGIN_MAX + 1);
	close(fd);
	if (n < 0)
		return refuse(path, strerror(errno), err, errlen);
	line[n] = '\0';
	if (strlen(line) != (size_t)n || n > LOGIN_MAX)
		return refuse(path, "is not one line USER:PASSWORD", err, errlen);
	line[strcspn(line, "\r\n")] = '\0';
	return true;
}

static bool use_login(const char *path, CURL *curl, char *err, size_t errlen)
{
	char line[LOGIN_MAX + 2];
	char *colon;
	bool used = false;

	if (!read_line(path, line, err, errlen))
		return false;
	colon = strchr(line, ':');
	if (!colon || colon == line) {
		refuse(path, "is not one line USER:PASSWORD", err, errlen);
	} else {
		*colon = '\0';
		/* Copied by libcurl. */
		used = !curl_easy_setopt(curl, CURLOPT_USERNAME, line) &&
		       !curl_easy_setopt(curl, CURLOPT_PASSWORD, colon + 1) &&
		       !curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		if (!used)
			refuse(path, "cannot be used", err, errlen);
	}
	explicit_bzero(line, sizeof(line));
	return used;
}

static bool use_path(const char *path, CURL *curl, CURLoption option, char *err, size_t errlen)
{
	if (!path)
		return true;
	if (access(path, R_OK) < 0)
		return refuse(path, strerror(errno), err, errlen);
	return !curl_easy_setopt(curl, option, path) || refuse(path, "cannot be used", err, errlen);
}

bool access_apply(const struct access *a, void *curl, char *err, size_t errlen)
{
	if (!use_path(a->cacert, curl, CURLOPT_CAINFO, err, errlen) ||
	    !use_path(a->cert, curl, CURLOPT_SSLCERT, err, errlen) ||
	    !use_path(a->key, curl, CURLOPT_SSLKEY, err, errlen))
		return false;
	if (a->netrc && curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL))
		return refuse("--netrc", "cannot be used", err, errlen);
	return !a->login || use_login(a->login, curl, err, errlen);
}
