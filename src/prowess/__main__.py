from prowess.cli.main import main

main()
