/* What the outside world can see. */
byte effects;                 /* that the provider carried out */
byte business_writes;         /* that a transaction carried out */
byte told;                    /* the answer that some caller has got; 0: none yet */
byte lands_by[ATTEMPTS + 1];  /* of an attempt's request: the last tick to land in; 0: not on its way */
mtype = { AWAITED, ANSWERED };
mtype reply[ATTEMPTS + 1];    /* of the provider, while an attempt waits for it */

/* What must always be true. Each has a name, so that a failed assertion says which one it was. */
bit at_most_one_effect = 1;
bit at_most_one_business_write = 1;
bit the_journal_never_goes_back = 1;
bit an_outcome_is_final = 1;
bit everybody_gets_the_same_answer = 1;
bit success_means_it_happened = 1;
bit declined_means_it_did_not_happen = 1;
bit every_effect_gets_decided = 1;

inline promise(name, condition) {
  name = (condition);
  assert(name)
}

#if defined(COMMIT) || defined(AT_COMMIT)
#define HAPPENED (business_writes > 0)
#else
#define HAPPENED (effects > 0)
#endif

inline tell(value) {
  if
  :: value == SUCCESS -> printf("attempt %d tells its caller: done\n", me)
  :: value == REJECTION -> printf("attempt %d tells its caller: declined\n", me)
  :: else -> printf("attempt %d tells its caller: done, by attempt %d\n", me, value)
  fi;
  promise(success_means_it_happened, value == REJECTION || HAPPENED);
  promise(everybody_gets_the_same_answer, told == 0 || told == value);
  told = value
}
