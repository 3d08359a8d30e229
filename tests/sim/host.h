/* A host: its address, its device, its configuration file, and main, which is the product's but for
 * HTTP, sd_notify and the look (which settles the books, and judges nothing). */
#pragma once
#include "daemon/daemon.h"
#include "process.h"
#include "process_loop.h"
#include "simulation.h"

struct host {
	unsigned index;
	char name[16], device[16], address[32];
	struct fake_device *dev;
	struct fake_knobs nature; /* what its device is like, when it is not odd */
	bool present;		  /* the device */
	struct config file;	  /* what its configuration file says; owns its peers */
	unsigned socket_packets;  /* between main and a worker */
	uint64_t late_ns;	  /* how late its threads may wake */
	struct options options;
	struct daemon d;
	struct loop *loop;
	bool up;    /* main runs */
	bool boots; /* and is started when it has ended */
	struct thread main;
	uint64_t scan_ns, look_ns; /* due */
	uint64_t stop_ns;	   /* when it was told to stop; 0: it was not */
	uint64_t looked_ns;
};

extern struct host hosts[HOSTS_MAX];
extern unsigned n_hosts;

/* Hosts in full mesh, with configurations drawn from c. */
void hosts_make(struct chance *c);
void hosts_free(void);
void host_boot(struct host *h);
/* Main ends without a word, and its worker with it; loud: the kernel closes its connections. */
void host_crash(struct host *h, bool loud);
void host_terminate(struct host *h); /* SIGTERM */
void host_reload(struct host *h);    /* SIGHUP */
/* The device is there, or not; main hears of it at its next look, or at once. */
void host_set_present(struct host *h, bool present, bool told);
/* By its administrator: let go of the device, take it back. */
void host_release(struct host *h, bool released);
uint64_t host_when(struct host *h);
void host_step(struct host *h);
/* Those of the session that has that id now; NULL: none. */
const struct books *host_books(const struct host *h, uint64_t session_id);
/* They are of one of its sessions. */
bool host_has_books(const struct host *h, const struct books *b);
/* The loop ended. */
void host_left(struct host *h);
/* Other hosts than h, as its file lists them; bit per host. */
void host_list_peers(struct host *h, unsigned mask);
/* It has no session that is not up, and none that lately failed. */
bool host_well(const struct host *h);
/* In words, for who looks at a failure. */
void host_dump(const struct host *h);
