// SIMULATED source of clusterwright's lab: says which rank of how many it is, and on which node.
#include <mpi.h>
#include <stdio.h>

int main(int count, char **words) {
  int rank, size, length;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  printf("rank %d of %d on %s\n", rank, size, name);
  return MPI_Finalize();
}
