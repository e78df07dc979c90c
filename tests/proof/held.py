"""Which test holds the code to a transition, by name: a row for each transition that code carries out. All transitions of memory.py that a
trace can have are replayed as well (replay.py). The tests named here are those that are about the one step. run.py looks whether each transition
has a row, and whether each file has each test; whether a test would fail if the code did something else, it cannot tell: that is for a reader."""

SCRIPTS = "tests/integration/fence_scripts_test.cpp"
ADMISSIONS = "tests/integration/fence_admission_test.cpp"
LOCKS = "tests/integration/fenced_locks_test.cpp"
ACQUIRE = "tests/unit/quorum/acquire_machine_test.cpp"
EXTEND = "tests/unit/quorum/extend_machine_test.cpp"
LEASE = "tests/unit/quorum/lease_machine_test.cpp"
ADMISSION = "tests/unit/quorum/admission_test.cpp"
RECOVERY = "tests/unit/quorum/recovery_test.cpp"
CODEC = "tests/unit/protocol/codec_test.cpp"
STORY = "tests/unit/core/acquire/token_story_test.cpp"
TIMING = "tests/unit/quorum/timing_test.cpp"
FOLDER = "tests/unit/core/admission/quarantine_folder_test.cpp"
CLIMBS = "tests/unit/core/lease/climb_story_test.cpp"
CRASHES = "tests/simulation/scenario_crashes_test.cpp"
CLOCKS = "tests/simulation/scenario_clocks_test.cpp"

FRESH = ("tests/unit/core/acquire/acquire_story_test.cpp", "every_attempt_has_a_value_of_its_own")
IDENTITY = (CODEC, "votes_with_tokens_count_only_if_the_server_is_the_one_that_was_meant")
LARGEST_TTL = (SCRIPTS, "a_ttl_above_the_nodes_is_refused")
DRAIN = (ADMISSION, "what_was_asked_before_the_drain_ended_does_not_count")
RESTART = (ADMISSIONS, "a_restarted_server_has_a_new_id_and_waits_for_its_admission")
LONGEST = (ADMISSION, "the_drain_is_as_long_as_the_longest_ttl_that_the_others_allow")
ADMITTED_ONCE = (ADMISSIONS, "a_mark_admits_once_and_only_for_its_own_loss")

# (FILE, TEST), by protocol and transition.
HELD_BY = {
    "memory": {
        "begin": (FRESH,),
        "bind": ((STORY, "an_attempt_is_bound_to_one_server_a_node"),),
        "check": (IDENTITY, (STORY, "a_confirmation_under_another_admission_does_not_count")),
        "decide": ((ACQUIRE, "the_largest_of_different_tokens_is_confirmed"), (ACQUIRE, "equal_tokens_of_a_majority_need_no_second_round")),
        "completes": ((ACQUIRE, "a_confirmation_that_is_refused_or_fails_takes_the_grant_back"), (ACQUIRE, "a_late_grant_of_a_larger_token_is_a_refusal")),
        "gives_up": ((ACQUIRE, "what_was_not_confirmed_in_time_has_failed"), (ACQUIRE, "a_confirmation_that_comes_too_late_is_no_lease")),
        "asks_to_extend": ((LEASE, "no_second_extension_is_due_while_one_is_under_way"),),
        "check_extension": (IDENTITY, (STORY, "a_lease_does_not_count_on_a_node_that_forgot_it")),
        "is_extended": ((EXTEND, "a_majority_of_renewals_renews_without_waiting_for_the_rest"), (EXTEND, "four_nodes_need_three_renewals")),
        "acquire": ((SCRIPTS, "a_free_name_is_granted"), (SCRIPTS, "a_block_raises_the_counter_by_its_size"),
                    (SCRIPTS, "a_base_above_the_counter_is_stepped_over"), (SCRIPTS, "several_free_names_are_granted_together_with_one_token")),
        "acquire_again": ((SCRIPTS, "a_repeated_acquire_answers_the_same_and_does_not_prolong"),
                          (SCRIPTS, "a_repeated_acquire_of_several_answers_the_same_while_its_counters_agree")),
        "confirm": ((SCRIPTS, "confirm_raises_the_counter_and_the_mark"), (SCRIPTS, "confirm_wants_its_own_value"),
                    (SCRIPTS, "the_guard_knows_the_base_too"), (SCRIPTS, "several_are_confirmed_together_or_not_at_all")),
        "extend": ((SCRIPTS, "extend_renews_the_lease_and_its_counter"), (SCRIPTS, "extend_refuses_behind_a_larger_counter"),
                   (SCRIPTS, "the_guard_knows_the_base_too")),
        "recreate": ((SCRIPTS, "a_lease_that_is_gone_is_planted_again_on_request"), (SCRIPTS, "extend_refuses_behind_a_larger_counter")),
        "key_vanishes": ((LOCKS, "keys_that_were_deleted_come_back"),),
        "counter_vanishes": ((SCRIPTS, "a_missing_counter_reads_as_the_high_water_mark"), (SCRIPTS, "a_counter_is_kept_for_its_retention_and_not_longer")),
        "somebody_else_sets_a_key": ((SCRIPTS, "a_foreign_value_without_expiry_is_a_holder"),),
        "restarts": (RESTART, (ADMISSIONS, "a_restart_with_old_data_is_noticed_by_the_id")),
        "is_wiped": ((ADMISSIONS, "a_node_without_a_matching_record_is_not_admitted"),),
        "high_water_vanishes": ((ADMISSIONS, "a_node_without_a_matching_record_is_not_admitted"),),
        "marks": (ADMITTED_ONCE, (ADMISSIONS, "a_request_to_mark_that_is_executed_again_makes_another_mark"),
                  (ADMISSION, "the_mark_of_another_client_is_adopted")),
        "goes_on_with_a_note": ((ADMISSION, "a_wait_that_another_process_began_goes_on"),
                                (ADMISSION, "only_the_same_mark_at_the_same_server_was_waited_for"), (FOLDER, "another_boot_or_time_namespace_says_nothing")),
        "ends_to_drain": (LONGEST, (ADMISSION, "another_loss_during_the_drain_begins_it_again")),
        "reads_a_mark": (DRAIN,),
        "sends_an_admission": ((ADMISSION, "a_node_that_lost_its_memory_gets_the_largest_mark_that_was_read_after_the_drain"),
                               (ADMISSION, "of_five_nodes_three_must_be_intact")),
        "begins_to_found": ((ADMISSION, "a_new_cluster_is_founded_when_the_last_drain_is_over"),),
        "finds_that_it_forgot": ((ADMISSION, "a_cluster_is_not_founded_on_what_nodes_said_before_the_last_drain"),),
        "founds": ((ADMISSION, "a_new_cluster_is_not_founded_before_all_nodes_have_said_so"),
                   (ADMISSION, "a_new_cluster_waits_for_the_longest_ttl_and_begins_with_the_wall_clock"),
                   (RECOVERY, "a_majority_that_lost_its_data_votes_again_after_the_wait_from_the_wall_clock"),
                   (RECOVERY, "where_half_of_the_nodes_have_their_data_the_others_learn_from_them")),
        "takes_the_operators_word": ((ADMISSION, "the_operator_may_say_that_a_cluster_is_fresh"),
                                     (ADMISSION, "fresh_does_not_count_where_there_is_a_trace_of_an_admission")),
        "is_admitted": ((ADMISSIONS, "admission_keeps_the_largest_base_and_ttl"), ADMITTED_ONCE, (ADMISSIONS, "admission_is_for_the_id_that_was_seen")),
    },
    "climb-memory": {       # the others are those of memory
        "asks_to_extend": ((CLIMBS, "a_lease_gets_back_onto_a_node_where_an_attempt_failed"),),
        "goes_on_to_extend": ((CLIMBS, "a_lease_gets_back_onto_a_node_where_an_attempt_failed"),),
        "extend_at_a_mark": ((SCRIPTS, "an_extension_leaves_the_mark_of_a_climb_that_failed_alone"),
                             (CLIMBS, "a_climb_that_a_minority_answers_leaves_marks_and_is_repeated")),
        "begins_to_climb": ((CLIMBS, "a_lease_gets_back_onto_a_node_where_an_attempt_failed"), (CLIMBS, "a_lease_does_not_climb_above_a_majority")),
        "climb": ((SCRIPTS, "a_climb_raises_the_counter_and_the_mark_and_leaves_its_own_mark"),
                  (SCRIPTS, "a_climb_wants_its_own_value_and_nothing_above_its_guard"), (SCRIPTS, "whoever_sets_the_lock_takes_the_mark_of_a_climb_away")),
        "climb_from_a_mark": ((SCRIPTS, "a_climb_may_be_repeated_and_go_farther_from_its_mark_and_from_nothing_else"),),
        "check_climb": (IDENTITY,),
        "has_climbed": ((CODEC, "climbs_share_a_call_and_carry_both_guards"), (CLIMBS, "a_climb_that_a_minority_answers_leaves_marks_and_is_repeated")),
        "climb_ends": ((CLIMBS, "a_climb_that_a_minority_answers_leaves_marks_and_is_repeated"),),
    },
    "ttl": {
        "begin": (FRESH,),
        "acquire": (LARGEST_TTL,),
        "completes": ((LOCKS, "a_ttl_that_the_nodes_do_not_allow_ends_the_attempts_at_once"),),
        "loses_its_memory": (RESTART,),
        "drain": (LONGEST,),
        "reads": (LONGEST, DRAIN),
        "is_admitted": ((ADMISSIONS, "admission_keeps_the_largest_base_and_ttl"),),
    },
    "exclusion": {
        "time_passes": ((CRASHES, "the_lock_of_a_crashed_holder_is_free_after_its_ttl_and_never_before"),),
        "sends": ((ACQUIRE, "validity_counts_from_before_the_request_was_sent"), (TIMING, "validity_is_the_ttl_less_drift_and_two_milliseconds"),
                  (LEASE, "a_renewed_lease_is_extended_again_an_interval_after_the_last_request")),
        "step_of_a_lease": ((SCRIPTS, "a_held_name_is_refused_and_left_alone"), (SCRIPTS, "extend_renews_the_lease_and_its_counter")),
        "is_released": (("tests/unit/core/lease/release_story_test.cpp", "releasing_confirms_with_a_majority_and_tells_lost_from_unknown"),),
        "deletes": ((CODEC, "a_release_is_a_script"), (SCRIPTS, "several_without_tokens_are_set_and_deleted_together"),),
        "key_expires": ((CRASHES, "the_lock_of_a_crashed_holder_is_free_after_its_ttl_and_never_before"),),
        "somebody_else_sets_or_deletes_a_key": ((SCRIPTS, "a_foreign_value_without_expiry_is_a_holder"),),
        "loses_its_memory": (RESTART,),
        "is_admitted": ((CRASHES, "with_tokens_a_node_that_forgets_has_no_vote_until_it_does_not_matter"),),
    },
}
