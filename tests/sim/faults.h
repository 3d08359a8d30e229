/* What goes wrong, drawn from the seed: each fault has a number of its own, so that one can be left
 * out without changing the others. */
#pragma once
#include "simulation.h"

/* Faults happen until end_ns. */
void faults_begin(const struct simulation_options *o, uint64_t end_ns);
uint64_t faults_when(void);
void faults_step(void);
unsigned faults_count(void);
/* Nothing more happens, and nothing is repaired. */
void faults_end(void);
/* Whatever was broken is repaired, and nothing more goes wrong. */
void faults_heal(void);
