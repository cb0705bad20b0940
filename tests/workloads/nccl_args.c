/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* nccl-args [N]: calls each function of the simulated libnccl with arguments that are all different, N times (1), as the
 * only rank of its communicators, and prints each call as cudatrace -j does: the function, what it passed, what was stored,
 * and the result.  The last calls fail, or have not ended when they return. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../sim/sim_nccl.h"

#define P(x) ((unsigned long)(x))

enum { MAGIC = (int)0xcafebeef, UNKNOWN_TYPE = 99 };

static char from[4096], to[4096];
static const simStream_t stream = (simStream_t)2;

/* 'name':value,...: with " in place of ' */
static void print(const char *fmt, va_list ap)
{
	char text[2048];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *s = text; *s; s++)
		putchar(*s == '\'' ? '"' : *s);
}

__attribute__((format(printf, 3, 4))) static void said(const char *func, int ret, const char *fmt, ...)
{
	va_list ap;

	printf("{\"func\":\"%s\",\"args\":{", func);
	va_start(ap, fmt);
	print(fmt, ap);
	va_end(ap);
	printf("},\"ret\":%d}\n", ret);
}

/* The id as words. */
static const char *words(const ncclUniqueId *id)
{
	static char text[512];
	unsigned long word;
	int n = 0;

	for (size_t i = 0; i < sizeof(*id); i += sizeof(word)) {
		memcpy(&word, id->internal + i, sizeof(word));
		n += snprintf(text + n, sizeof(text) - n, "%s'0x%lx'", i ? "," : "", word);
	}
	return text;
}

static void ask(ncclComm_t comm)
{
	int ret, n;
	ncclResult_t result;

	ret = ncclGetVersion(&n);
	said("ncclGetVersion", ret, "'version':'0x%lx','*version':22809", P(&n));
	ret = ncclCommCount(comm, &n);
	said("ncclCommCount", ret, "'comm':'0x%lx','count':'0x%lx','*count':1", P(comm), P(&n));
	ret = ncclCommCuDevice(comm, &n);
	said("ncclCommCuDevice", ret, "'comm':'0x%lx','device':'0x%lx','*device':0", P(comm), P(&n));
	ret = ncclCommUserRank(comm, &n);
	said("ncclCommUserRank", ret, "'comm':'0x%lx','rank':'0x%lx','*rank':0", P(comm), P(&n));
	ret = ncclCommGetAsyncError(comm, &result);
	said("ncclCommGetAsyncError", ret, "'comm':'0x%lx','asyncError':'0x%lx','*asyncError':'ncclSuccess'", P(comm),
	     P(&result));
	printf("{\"func\":\"ncclGetErrorString\",\"args\":{\"result\":\"ncclRemoteError\"},\"ret\":\"%s\"}\n",
	       ncclGetErrorString(ncclRemoteError));
	printf("{\"func\":\"ncclGetLastError\",\"args\":{\"comm\":\"0x%lx\"},\"ret\":\"%s\"}\n", P(comm), ncclGetLastError(comm));
}

__attribute__((noinline)) static void operate(ncclComm_t comm)
{
	const unsigned long f = P(from), t = P(to), c = P(comm);
	int ret;

	ret = ncclReduce(from, to, 3, ncclInt8, ncclProd, 0, comm, stream);
	said("ncclReduce", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','count':3,'datatype':'ncclInt8','op':'ncclProd','root':0,"
	     "'comm':'0x%lx','stream':'0x2'", f, t, c);
	ret = ncclBcast(to, 5, ncclUint8, 0, comm, stream);
	said("ncclBcast", ret, "'buff':'0x%lx','count':5,'datatype':'ncclUint8','root':0,'comm':'0x%lx','stream':'0x2'", t, c);
	ret = ncclBroadcast(from, to, 7, ncclInt32, 0, comm, stream);
	said("ncclBroadcast", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','count':7,'datatype':'ncclInt32','root':0,"
	     "'comm':'0x%lx','stream':'0x2'", f, t, c);
	ret = ncclAllReduce(from, to, 1ul << 40, ncclUint32, ncclMax, comm, stream);
	said("ncclAllReduce", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','count':%lu,'datatype':'ncclUint32','op':'ncclMax',"
	     "'comm':'0x%lx','stream':'0x2'", f, t, 1ul << 40, c);
	ret = ncclReduceScatter(from, to, 11, ncclInt64, ncclMin, comm, stream);
	said("ncclReduceScatter", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','recvcount':11,'datatype':'ncclInt64','op':'ncclMin',"
	     "'comm':'0x%lx','stream':'0x2'", f, t, c);
	ret = ncclReduceScatter(from, to, 13, ncclUint64, 5, comm, stream);	/* an operator of the program */
	said("ncclReduceScatter", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','recvcount':13,'datatype':'ncclUint64','op':5,"
	     "'comm':'0x%lx','stream':'0x2'", f, t, c);
	ret = ncclAllGather(from, to, 17, ncclFloat16, comm, stream);
	said("ncclAllGather", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','sendcount':17,'datatype':'ncclFloat16','comm':'0x%lx',"
	     "'stream':'0x2'", f, t, c);
	ret = ncclAlltoAll(from, to, 19, ncclFloat32, comm, stream);
	said("ncclAlltoAll", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','count':19,'datatype':'ncclFloat32','comm':'0x%lx',"
	     "'stream':'0x2'", f, t, c);
	ret = ncclGather(from, to, 23, ncclFloat64, 0, comm, stream);
	said("ncclGather", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','count':23,'datatype':'ncclFloat64','root':0,"
	     "'comm':'0x%lx','stream':'0x2'", f, t, c);
	ret = ncclScatter(from, to, 29, ncclBfloat16, 0, comm, stream);
	said("ncclScatter", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','count':29,'datatype':'ncclBfloat16','root':0,"
	     "'comm':'0x%lx','stream':'0x2'", f, t, c);
	said("ncclGroupStart", ncclGroupStart(), "%s", "");
	ret = ncclSend(from, 31, ncclFloat32, 0, comm, stream);
	said("ncclSend", ret, "'sendbuff':'0x%lx','count':31,'datatype':'ncclFloat32','peer':0,'comm':'0x%lx','stream':'0x2'", f, c);
	ret = ncclRecv(to, 31, ncclFloat32, 0, comm, stream);
	said("ncclRecv", ret, "'recvbuff':'0x%lx','count':31,'datatype':'ncclFloat32','peer':0,'comm':'0x%lx','stream':'0x2'", t, c);
	said("ncclGroupEnd", ncclGroupEnd(), "%s", "");
}

/* Calls that fail, the last one as it is no member of a group; and one that is in progress. */
static void fail(ncclComm_t comm, ncclUniqueId *id)
{
	ncclConfig_t config = { .size = sizeof(config), .magic = MAGIC, .blocking = 0 };
	ncclComm_t c = NULL;
	int ret;

	ret = ncclAllReduce(from, to, 37, UNKNOWN_TYPE, ncclAvg, comm, stream);
	said("ncclAllReduce", ret, "'sendbuff':'0x%lx','recvbuff':'0x%lx','count':37,'datatype':99,'op':'ncclAvg','comm':'0x%lx',"
	     "'stream':'0x2'", P(from), P(to), P(comm));
	ret = ncclCommInitRankConfig(&c, -1, *id, 2, &config);
	said("ncclCommInitRankConfig", ret, "'comm':'0x%lx','nranks':-1,'commId':[%s],'rank':2,'config':'0x%lx'", P(&c), words(id),
	     P(&config));
	said("ncclGroupEnd", ncclGroupEnd(), "%s", "");
	ncclGetUniqueId(id);
	said("ncclGetUniqueId", 0, "'uniqueId':'0x%lx','*uniqueId':[%s]", P(id), words(id));
	ret = ncclCommInitRankConfig(&c, 1, *id, 0, &config);
	said("ncclCommInitRankConfig", ret, "'comm':'0x%lx','*comm':'0x%lx','nranks':1,'commId':[%s],'rank':0,'config':'0x%lx'",
	     P(&c), P(c), words(id), P(&config));
	said("ncclCommAbort", ncclCommAbort(c), "'comm':'0x%lx'", P(c));
}

__attribute__((noinline)) static void all(void)
{
	static ncclUniqueId id;
	int without[] = { 3 }, device = 0, ret;
	ncclComm_t comm, made;

	ret = ncclGetUniqueId(&id);
	said("ncclGetUniqueId", ret, "'uniqueId':'0x%lx','*uniqueId':[%s]", P(&id), words(&id));
	ret = ncclCommInitRank(&comm, 1, id, 0);
	said("ncclCommInitRank", ret, "'comm':'0x%lx','*comm':'0x%lx','nranks':1,'commId':[%s],'rank':0", P(&comm), P(comm), words(&id));
	ask(comm);
	operate(comm);
	ret = ncclCommSplit(comm, 41, -43, &made, NULL);
	said("ncclCommSplit", ret, "'comm':'0x%lx','color':41,'key':-43,'newcomm':'0x%lx','*newcomm':'0x%lx','config':'0x0'", P(comm),
	     P(&made), P(made));
	said("ncclCommDestroy", ncclCommDestroy(made), "'comm':'0x%lx'", P(made));
	ret = ncclCommShrink(comm, without, 0, &made, NULL, 1);
	said("ncclCommShrink", ret, "'comm':'0x%lx','excludeRanksList':'0x%lx','excludeRanksCount':0,'newcomm':'0x%lx',"
	     "'*newcomm':'0x%lx','config':'0x0','shrinkFlags':1", P(comm), P(without), P(&made), P(made));
	said("ncclCommDestroy", ncclCommDestroy(made), "'comm':'0x%lx'", P(made));
	ret = ncclCommInitAll(&made, 1, &device);
	said("ncclCommInitAll", ret, "'comm':'0x%lx','*comm':'0x%lx','ndev':1,'devlist':'0x%lx'", P(&made), P(made), P(&device));
	said("ncclCommDestroy", ncclCommDestroy(made), "'comm':'0x%lx'", P(made));
	said("ncclCommFinalize", ncclCommFinalize(comm), "'comm':'0x%lx'", P(comm));
	said("ncclCommDestroy", ncclCommDestroy(comm), "'comm':'0x%lx'", P(comm));
	ncclGetUniqueId(&id);
	said("ncclGetUniqueId", 0, "'uniqueId':'0x%lx','*uniqueId':[%s]", P(&id), words(&id));
	ret = ncclCommInitRankScalable(&comm, 1, 0, 1, &id, NULL);
	said("ncclCommInitRankScalable", ret, "'newcomm':'0x%lx','*newcomm':'0x%lx','nranks':1,'myrank':0,'nId':1,"
	     "'commIds':'0x%lx','*commIds':[%s],'config':'0x0'", P(&comm), P(comm), P(&id), words(&id));
	fail(comm, &id);
	said("ncclCommDestroy", ncclCommDestroy(comm), "'comm':'0x%lx'", P(comm));
}

int main(int argc, char **argv)
{
	for (int n = argc > 1 ? atoi(argv[1]) : 1; n; n--)
		all();
	return 0;
}
