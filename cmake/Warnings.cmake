add_compile_options(-Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wswitch-enum
	-Wno-missing-field-initializers)
if(ENABLE_WERROR)
	add_compile_options(-Werror)
endif()
