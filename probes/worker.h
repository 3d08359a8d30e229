/* The worker: one process per RDMA device, three threads (rail, control, counter).
 * main starts it as `rdma-pingmeshd --worker SOCKET_FD TABLE_FD` (daemon/worker_main.c). */
#pragma once

/* Runs until told to stop or until the device is gone; the exit code for main:
 * 0 stopped as told, WORKER_EXIT_* otherwise. Never returns while a thread is in the kernel:
 * exits the process instead. */
int worker_main(int socket_fd, int table_fd);

#define WORKER_EXIT_SETUP 10  /* bad arguments, table or first wish */
#define WORKER_EXIT_DEVICE 11 /* device gone or fatal: start again when it is back */
#define WORKER_EXIT_RETRY 12  /* RDMA stack not ready (no rdma_cm, no permission): retry later */
