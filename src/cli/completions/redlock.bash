# bash completion for redlock(1)
_redlock()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} word command= i
    local nodes='--nodes --config --shard --set-name --help'
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
            --)
                # The words after -- are a command line of their own.
                if declare -F _command_offset > /dev/null; then _command_offset $((i + 1)); else COMPREPLY=($(compgen -c -- "$cur")); fi
                return ;;
            run|hold|lead|leader|acquire|extend|inspect|semaphore|list|release|watch|admit|nodes|doctor|bench|dashboard|completion|help) [ -n "$command" ] || command=$word ;;
        esac
    done
    case $prev in
        --config|--token-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --on-lost) COMPREPLY=($(compgen -W 'TERM INT HUP QUIT USR1 USR2 KILL' -- "$cur")); return ;;
        --ttl|--wait|--kill-grace|--timeout|--interval|--time|--history) COMPREPLY=($(compgen -W '250ms 1s 10s 30s 1m 5m' -- "$cur")); return ;;
        --nodes|--shard|--set-name|--label|--name|--count|--callers|--events-fd|--conflict-exit-code|--limit|--ticket|--publish|--pass-lease|--listen|--host|--pattern|--permits|--take) return ;;
    esac
    case $command in
        '') COMPREPLY=($(compgen -W 'run hold lead leader acquire extend inspect semaphore list release watch admit nodes doctor bench dashboard completion help --help --version' -- "$cur")) ;;
        run) COMPREPLY=($(compgen -W "$nodes --ttl --wait --no-wait --wait-servers --kill-grace --label --name --no-fencing --shared --permits --take --bootstrap --no-env --events-fd --on-lost --conflict-exit-code --pass-notify --pass-lease --ticket --verbose --quiet --" -- "$cur")) ;;
        hold) COMPREPLY=($(compgen -W "$nodes --ttl --wait --no-wait --wait-servers --label --name --no-fencing --shared --permits --take --bootstrap --events-fd --conflict-exit-code --ticket --verbose --quiet" -- "$cur")) ;;
        lead) COMPREPLY=($(compgen -W "$nodes --publish --ttl --kill-grace --label --bootstrap --no-env --on-lost --verbose --quiet --" -- "$cur")) ;;
        leader) COMPREPLY=($(compgen -W "$nodes --timeout --watch --json" -- "$cur")) ;;
        acquire) COMPREPLY=($(compgen -W "$nodes --ttl --wait --no-wait --wait-servers --label --no-fencing --bootstrap --conflict-exit-code --quiet --json" -- "$cur")) ;;
        extend) COMPREPLY=($(compgen -W "$nodes --ticket --ttl --json" -- "$cur")) ;;
        inspect) COMPREPLY=($(compgen -W "$nodes --timeout --json" -- "$cur")) ;;
        semaphore) COMPREPLY=($(compgen -W "$nodes --timeout --permits --wait --bootstrap --json" -- "$cur")) ;;
        list) COMPREPLY=($(compgen -W "$nodes --timeout --time --limit --foreign --watch --interval --count --json" -- "$cur")) ;;
        release) COMPREPLY=($(compgen -W "$nodes --timeout --force --yes --host --pattern --ticket --json" -- "$cur")) ;;
        watch) COMPREPLY=($(compgen -W "$nodes --timeout --interval --count --json" -- "$cur")) ;;
        admit) COMPREPLY=($(compgen -W "$nodes --timeout --json" -- "$cur")) ;;
        nodes) COMPREPLY=($(compgen -W "show replace grow shrink $nodes --timeout --wait --end-leases --json" -- "$cur")) ;;
        doctor) COMPREPLY=($(compgen -W "$nodes --timeout --ttl --name --json" -- "$cur")) ;;
        bench) COMPREPLY=($(compgen -W "$nodes --timeout --time --callers --ttl --no-fencing --bootstrap --json" -- "$cur")) ;;
        dashboard) COMPREPLY=($(compgen -W "$nodes --listen --token-file --host --pattern --limit --interval --history --timeout" -- "$cur")) ;;
        help) COMPREPLY=($(compgen -W 'run hold lead leader acquire extend inspect semaphore list release watch admit nodes doctor bench dashboard completion' -- "$cur")) ;;
        completion) COMPREPLY=($(compgen -W 'bash zsh fish --help' -- "$cur")) ;;
    esac
}
complete -F _redlock redlock
